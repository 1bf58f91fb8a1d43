-- SPDX-License-Identifier: Apache-2.0
-- Output as folded stacks, one `outermost;..;innermost number` a line, as flame graph tools read
-- them: every array whose keys hold a stack, as in probe func("f") { n[ubacktrace()]++ } or
-- n[sprint_usyms(ubacktrace())]++, which names inlined calls, too. Other keys are frames too. Prints are left out.
dj.on_record(function() end)

-- "main+0x1c/0x3d [/bin/ls]" is main, "f at t.c:3 (inlined) [/bin/ls]" is f. Code without a name is one frame for
-- each object, "[ls]": its addresses would tear one function into many frames. An address outside of objects stays.
local function frame(line)
  local object = line:match("^%s*0x%x+ : 0x%x+ %[(.*)%+0x%x+%]") or line:match("^%s*%[(.*)%+0x%x+%]")
  if object then return "[" .. object:gsub("^.*/", ""):gsub(";", ":") .. "]" end
  local inlined = line:match("^%s*0x%x+ : (.*) %(inlined%)")
  if inlined then return (inlined:gsub(" at %S+:%d+$", ""):gsub(";", ":")) end
  local name = line:match("^%s*0x%x+ : (.-)%+0x%x+") or line:match("^%s*(.-)%+0x%x+") or line:match("^%s*(.-)%s*$")
  return (name:gsub(";", ":"))
end

local function frames(key)
  local list = {}
  local names = dj.stack_names(tostring(key))
  for _, name in ipairs(names or {}) do
    table.insert(list, 1, name:find("^%[") and frame(name) or (name:gsub(";", ":")))
  end
  if names then return table.concat(list, ";") end
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
