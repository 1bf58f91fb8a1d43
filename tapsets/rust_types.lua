-- SPDX-License-Identifier: Apache-2.0
-- How texts such as $x$ show types of Rust's standard library. Enums (Option, Result) are built in.

local kShown = 8 -- elements

dj.printer("&str", function(v) return {dj.text(v.data_ptr, v.length)} end)
dj.printer("&mut str", function(v) return {dj.text(v.data_ptr, v.length)} end)

local function slice(v) return {"{size=", dj.number(v.length), ", [", dj.each(v.data_ptr, v.length), "]}"} end
dj.printer("&[*", slice)
dj.printer("&mut [*", slice)

-- The allocation's address; its parts have had other names in other versions of Rust.
local buffers = {
  function(v) return v.buf.inner.ptr.pointer.pointer end,
  function(v) return v.buf.ptr.pointer.pointer end,
}

for _, buffer in ipairs(buffers) do
  dj.printer("String", function(v) return {dj.text(buffer(v.vec), v.vec.len)} end)
  dj.printer("Vec<*", function(v)
    local element = dj.argument(v, 1)
    local pieces = {"{size=", dj.number(v.len), ", ["}
    for i = 0, kShown - 1 do
      pieces[#pieces + 1] = dj.when(dj.less(i, v.len), {i > 0 and ", " or "", dj.at(buffer(v) + i * dj.bytes(element), element)})
    end
    pieces[#pieces + 1] = dj.when(dj.less(kShown, v.len), {", ..."})
    pieces[#pieces + 1] = "]}"
    return pieces
  end)
end
