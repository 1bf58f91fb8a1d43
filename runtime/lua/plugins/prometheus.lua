-- SPDX-License-Identifier: Apache-2.0
-- Output as Prometheus reads it (text exposition format): each global is a metric, the keys of an
-- array are labels key1, key2, ... Prints are left out.
dj.on_record(function() end)

-- A label's value: Prometheus knows three escapes.
local function quoted(value)
  local escapes = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }
  return '"' .. tostring(value):gsub('[\\"\n]', escapes) .. '"'
end

local function number(value)
  if value ~= value then return "NaN" end
  if value == math.huge then return "+Inf" end
  if value == -math.huge then return "-Inf" end
  return tostring(value)
end

-- Lines of the metrics that a global gives, by metric, in the order of the first line of each.
local function collector()
  local order, lines = {}, {}
  local function add(metric, labels, value)
    if not lines[metric] then
      lines[metric] = {}
      order[#order + 1] = metric
    end
    local text = #labels > 0 and "{" .. table.concat(labels, ",") .. "}" or ""
    table.insert(lines[metric], metric .. text .. " " .. number(value))
  end
  return add, order, lines
end

-- A text is a label of a metric that is 1; an aggregate is a metric for each of its parts.
local function put(add, name, labels, value)
  if type(value) == "string" then
    labels[#labels + 1] = "value=" .. quoted(value)
    add(name .. "_info", labels, 1)
  elseif type(value) == "table" then
    for _, part in ipairs({ "count", "sum", "min", "max" }) do
      if value[part] then add(name .. "_" .. part, labels, value[part]) end
    end
  else
    add(name, labels, value)
  end
end

dj.on_end(function(g)
  for _, name in ipairs(dj.names()) do
    local add, order, lines = collector()
    if dj.is_array(name) then
      for _, row in ipairs(dj.rows(name)) do
        local labels = {}
        for i, key in ipairs(row) do labels[i] = "key" .. i .. "=" .. quoted(key) end
        put(add, name, labels, row.value)
      end
    else
      put(add, name, {}, g[name])
    end
    for _, metric in ipairs(order) do
      print("# TYPE " .. metric .. " untyped")
      for _, line in ipairs(lines[metric]) do print(line) end
    end
  end
end)
