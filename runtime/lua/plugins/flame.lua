-- SPDX-License-Identifier: Apache-2.0
-- Output as folded stacks, one `outermost;..;innermost number` a line, as flame graph tools read
-- them: every array whose keys hold a stack, as in probe func("f") { n[sprint_usyms(ubacktrace())]++ }
-- Other keys are frames too. Prints are left out.
dj.on_record(function() end)

-- "main+0x1c/0x3d [/bin/ls]" is main, "f at t.c:3 (inlined) [/bin/ls]" is f, an address without a name stays.
local function frame(line)
  local inlined = line:match("^%s*0x%x+ : (.*) %(inlined%)")
  if inlined then return (inlined:gsub(" at %S+:%d+$", ""):gsub(";", ":")) end
  local name = line:match("^%s*0x%x+ : (.-)%+0x%x+") or line:match("^%s*(.-)%+0x%x+") or line:match("^%s*(.-)%s*$")
  return (name:gsub(";", ":"))
end

local function frames(key)
  local list = {}
  for line in tostring(key):gmatch("[^\n]+") do table.insert(list, 1, frame(line)) end
  return table.concat(list, ";")
end

dj.on_end(function(g)
  local totals, order = {}, {}
  local function add(stack, value)
    if math.type(value) ~= "integer" then return end
    if not totals[stack] then order[#order + 1] = stack end
    totals[stack] = (totals[stack] or 0) + value
  end
  for _, name in ipairs(dj.names()) do
    for _, row in ipairs(dj.is_array(name) and dj.rows(name) or {}) do
      local parts = {}
      for i, key in ipairs(row) do parts[i] = frames(key) end
      add(table.concat(parts, ";"), type(row.value) == "table" and row.value.sum or row.value)
    end
  end
  for _, stack in ipairs(order) do print(stack .. " " .. totals[stack]) end
end)
