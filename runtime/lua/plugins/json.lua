-- SPDX-License-Identifier: Apache-2.0
-- Output as JSON, one object a line: each print with its time, process, thread, probe and arguments;
-- at the end each global or element of an array with its keys and value.
local function json(value)
  if type(value) == "string" then return dj.quote(value) end
  if type(value) ~= "table" then return tostring(value) end
  local items = {}
  if value.count then -- an aggregate
    for _, part in ipairs({ "count", "min", "max", "sum", "avg" }) do
      if value[part] then items[#items + 1] = dj.quote(part) .. ":" .. value[part] end
    end
    return "{" .. table.concat(items, ",") .. "}"
  end
  for i, item in ipairs(value) do items[i] = json(item) end
  return "[" .. table.concat(items, ",") .. "]"
end

dj.on_record(function(r)
  print(string.format('{"time_ns":%d,"pid":%d,"tid":%d,"probe":%s,"kind":%s,"text":%s,"args":%s}',
    r.time_ns, r.pid, r.tid, json(r.probe), json(r.kind), json(r.text), json(r.args)))
end)

dj.on_end(function(g)
  for _, name in ipairs(dj.names()) do
    if dj.is_array(name) then
      for _, row in ipairs(dj.rows(name)) do
        print(string.format('{"global":%s,"key":%s,"value":%s}', json(name), json(row), json(row.value)))
      end
    else
      print(string.format('{"global":%s,"value":%s}', json(name), json(g[name])))
    end
  end
end)
