-- SPDX-License-Identifier: Apache-2.0
-- How texts such as $x$ show types of D: strings and slices.

local function text(v) return {dj.text(v.ptr, v.length)} end
for _, name in ipairs({"string", "char[]", "const(char)[]", "immutable(char)[]", "inout(char)[]"}) do
  dj.printer(name, text)
end
for _, name in ipairs({"*[]", "wstring", "dstring"}) do
  dj.printer(name, function(v) return {"{size=", dj.number(v.length), ", [", dj.each(v.ptr, v.length), "]}"} end)
end
