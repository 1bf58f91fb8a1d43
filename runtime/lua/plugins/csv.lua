-- SPDX-License-Identifier: Apache-2.0
-- Output as CSV: one line for each print, `print,nanoseconds,probe,kind,argument..,pid,tid`, and at the
-- end one for each global or element of an array, `global,name,key..,value`.
local function field(value)
  local text = tostring(value)
  if text:find('[,"\r\n]') then return '"' .. text:gsub('"', '""') .. '"' end
  return text
end

local function line(fields)
  for i = 1, #fields do fields[i] = field(fields[i]) end
  print(table.concat(fields, ","))
end

dj.on_record(function(r)
  local fields = { "print", r.time_ns, r.probe, r.kind }
  if #r.args == 0 then fields[5] = r.text end
  for _, argument in ipairs(r.args) do fields[#fields + 1] = argument end
  fields[#fields + 1] = r.pid -- behind the arguments, whose columns have always been these
  fields[#fields + 1] = r.tid
  line(fields)
end)

local parts = { "count", "min", "max", "sum", "avg" }

-- A value behind `fields`; an aggregate is a line for each of its parts.
local function put(name, keys, value)
  local function one(label, number)
    local fields = { "global", label }
    for _, key in ipairs(keys) do fields[#fields + 1] = key end
    fields[#fields + 1] = number
    line(fields)
  end
  if type(value) ~= "table" then return one(name, value) end
  for _, part in ipairs(parts) do
    if value[part] then one(name .. "@" .. part, value[part]) end
  end
end

dj.on_end(function(g)
  for _, name in ipairs(dj.names()) do
    if dj.is_array(name) then
      for _, row in ipairs(dj.rows(name)) do put(name, row, row.value) end
    else
      put(name, {}, g[name])
    end
  end
end)
