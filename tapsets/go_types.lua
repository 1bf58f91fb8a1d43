-- SPDX-License-Identifier: Apache-2.0
-- How texts such as $x$ show types of Go.

dj.printer("string", function(v) return {dj.text(v.str, v.len)} end)
dj.printer("[]*", function(v) return {"{size=", dj.number(v.len), ", [", dj.each(v.array, v.len), "]}"} end)
