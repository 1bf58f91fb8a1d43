-- How texts such as $x$ show types of the C++ library (libstdc++). std::string is built in.

dj.printer("vector<bool,*", function(v)
  local start, finish = v._M_impl._M_start, v._M_impl._M_finish
  return {"{size=", dj.number((finish._M_p - start._M_p) * 8 + finish._M_offset - start._M_offset), "}"}
end)

dj.printer("vector<*", function(v)
  local start = v._M_impl._M_start
  local size = (v._M_impl._M_finish - start) / dj.bytes(start[0])
  return {"{size=", dj.number(size), ", [", dj.each(start, size), "]}"}
end)

dj.printer("shared_ptr<*", function(v)
  return {dj.when(v._M_ptr, {"{uses=", v._M_refcount._M_pi._M_use_count, ", ", v._M_ptr[0], "}"}, {"nullptr"})}
end)

dj.printer("optional<*", function(v)
  return {dj.when(v._M_payload._M_engaged, {v._M_payload._M_payload._M_value}, {"nullopt"})}
end)

dj.printer("pair<*", function(v) return {"{", v.first, ", ", v.second, "}"} end)

for _, tree in ipairs({"map", "set", "multimap", "multiset"}) do
  dj.printer(tree .. "<*", function(v) return {"{size=", dj.number(v._M_t._M_impl._M_node_count), "}"} end)
  dj.printer("unordered_" .. tree .. "<*", function(v) return {"{size=", dj.number(v._M_h._M_element_count), "}"} end)
end

dj.printer("list<*", function(v) return {"{size=", dj.number(v._M_impl._M_node._M_size), "}"} end)
