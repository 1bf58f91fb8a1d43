-- SPDX-License-Identifier: Apache-2.0
-- How texts such as $x$ show CPython's objects, where the interpreter has debug info: strings, bytes
-- and small numbers by value, others by their class.

local function has(object, bit) return object.ob_type.tp_flags >> bit & 1 end

-- Signed digits, as 3.11 and before count them, and as 3.12 and later do.
local function old_number(object)
  local long = dj.cast(object, "PyLongObject")
  local digits = long.ob_base.ob_size
  return {dj.when(dj.equal(digits, 0), {"0"}),
          dj.when(dj.equal(digits, 1), {long.ob_digit[0]}),
          dj.when(dj.equal(digits, -1), {"-", long.ob_digit[0]}),
          dj.when(dj.less(2, digits * digits), {"<int of more than 30 bits>"})}
end

local function new_number(object)
  local long = dj.cast(object, "PyLongObject").long_value
  local sign, digits = long.lv_tag & 3, long.lv_tag >> 3
  return {dj.when(dj.equal(sign, 1), {"0"}),
          dj.when(dj.less(digits, 2), {dj.when(dj.equal(sign, 2), {"-"}), dj.when(dj.equal(sign, 1), {}, {long.ob_digit[0]})},
                  {"<int of more than 30 bits>"})}
end

for _, number in ipairs({old_number, new_number}) do
  dj.printer("_object", function(object)
    local text, bytes = dj.cast(object, "PyASCIIObject"), dj.cast(object, "PyBytesObject")
    return {dj.when(has(object, 28), {dj.when(text.state.ascii, {dj.text(dj.address(text) + dj.bytes(text), text.length)},
                                              {"<str of ", text.length, " characters>"})}),
            dj.when(has(object, 27), {"b", dj.text(dj.address(bytes.ob_sval), bytes.ob_base.ob_size)}),
            dj.when(has(object, 24), number(object)),
            dj.when(object.ob_type.tp_flags & (1 << 28 | 1 << 27 | 1 << 24), {}, {"<object of ", dj.text(object.ob_type.tp_name), ">"})}
  end)
end
