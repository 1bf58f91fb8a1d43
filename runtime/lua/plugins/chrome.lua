-- SPDX-License-Identifier: Apache-2.0
-- Output as Chrome's trace events, which chrome://tracing and ui.perfetto.dev show. A print in a
-- function's entry begins a slice, one in its .return ends it, any other is an instant, each in the
-- process and thread that printed: probe func("f"), func("f").return { println() }
local first
local phases = { entry = "B", ["return"] = "E" }
dj.enclose("[", ",", "]") -- each file is an array, an event a line

dj.on_record(function(r)
  first = first or r.time_ns
  local event = string.format('{"name":%s,"ph":"%s","ts":%.3f,"pid":%d,"tid":%d', dj.quote(r.probe),
    phases[r.kind] or "i", (r.time_ns - first) / 1000, r.pid, r.tid)
  if not phases[r.kind] then event = event .. ',"s":"t"' end
  print(event .. ',"args":{"text":' .. dj.quote((r.text:gsub("\n$", ""))) .. "}}")
end)

-- Numbers that are left at the end are metadata of the trace.
dj.on_end(function(g)
  for _, name in ipairs(dj.names()) do
    if math.type(g[name]) == "integer" then
      print(string.format('{"name":%s,"ph":"i","s":"g","ts":0,"pid":0,"tid":0,"args":{"value":%d}}',
        dj.quote("global " .. name), g[name]))
    end
  end
end)
