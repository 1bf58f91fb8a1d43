-- SPDX-License-Identifier: Apache-2.0
-- How texts such as $x$ show types of the C++ library (libstdc++). std::string and std::string_view are built in.

local kShown = 8 -- elements

-- {size=3, [a, b, c]}; element(i): a piece, i from 0; shown: how the size is written
local function sequence(size, element, shown)
  local pieces = {"{size=", shown or dj.number(size), ", ["}
  for i = 0, kShown - 1 do
    pieces[#pieces + 1] = dj.when(dj.less(i, size), {i > 0 and ", " or "", element(i)})
  end
  pieces[#pieces + 1] = dj.when(dj.less(kShown, size), {", ..."})
  pieces[#pieces + 1] = "]}"
  return pieces
end

-- The same of nodes, each of which leads to the next; element(node): a piece.
local function chain(size, first, following, element, shown)
  local node = first
  return sequence(size, function(i)
    if i > 0 then node = following(node) end
    return element(node)
  end, shown)
end

-- Of a tuple's element; clang writes its number as 0UL.
local function head_base(number) return "_Head_base<" .. number .. "[!0-9]*" end

local function pointer(p) return dj.when(p, {p[0]}, {"nullptr"}) end

dj.printer("vector<bool,*", function(v)
  local start, finish = v._M_impl._M_start, v._M_impl._M_finish
  return {"{size=", dj.number((finish._M_p - start._M_p) * 8 + finish._M_offset - start._M_offset), "}"}
end)

dj.printer("vector<*", function(v)
  local start = v._M_impl._M_start
  local size = (v._M_impl._M_finish - start) / dj.bytes(start[0])
  return {"{size=", dj.number(size), ", [", dj.each(start, size), "]}"}
end)

dj.printer("array<*", function(v)
  return {"[", dj.each(v._M_elems, dj.bytes(v._M_elems) / dj.bytes(v._M_elems[0])), "]"}
end)

-- Chunks of 512 bytes, or of one larger element; a table has their addresses.
dj.printer("deque<*", function(v)
  local start, finish = v._M_impl._M_start, v._M_impl._M_finish
  local bytes = dj.bytes(start._M_cur[0])
  local chunk = dj.less(bytes, 512) * (512 / bytes * bytes) + dj.less(511, bytes) * bytes
  local size = ((finish._M_node - start._M_node) / 8 * chunk + (finish._M_cur - finish._M_first) - (start._M_cur - start._M_first)) / bytes
  return sequence(size, function(i)
    local offset = start._M_cur - start._M_first + i * bytes
    return dj.at(dj.at(start._M_node + offset / chunk * 8, start._M_cur) + offset % chunk, start._M_cur[0])
  end)
end)

dj.printer("shared_ptr<*", function(v)
  return {dj.when(v._M_ptr, {"{uses=", v._M_refcount._M_pi._M_use_count, ", ", v._M_ptr[0], "}"}, {"nullptr"})}
end)

dj.printer("weak_ptr<*", function(v)
  return {dj.when(v._M_ptr, {"{uses=", v._M_refcount._M_pi._M_use_count, ", ", v._M_ptr[0], "}"}, {"nullptr"})}
end)

dj.printer("unique_ptr<*", function(v) return {pointer(dj.base(v._M_t._M_t, head_base(0))._M_head_impl)} end)

dj.printer("optional<*", function(v)
  return {dj.when(v._M_payload._M_engaged, {v._M_payload._M_payload._M_value}, {"nullopt"})}
end)

dj.printer("pair<*", function(v) return {"{", v.first, ", ", v.second, "}"} end)

dj.printer("tuple<>", function() return {"{}"} end)
for count = kShown + 1, 1, -1 do -- the first that has so many elements fits
  dj.printer("tuple<*", function(v)
    local pieces = {"{"}
    for i = 0, math.min(count, kShown) - 1 do
      pieces[#pieces + 1] = i > 0 and ", " or ""
      pieces[#pieces + 1] = dj.base(v, head_base(i))._M_head_impl
    end
    if count > kShown then -- shown by its address, 0 bytes of it
      pieces[#pieces + 1] = dj.when(dj.address(dj.base(v, head_base(kShown))), {", ..."})
    end
    pieces[#pieces + 1] = "}"
    return pieces
  end)
end

-- A union of the first alternative and a union of the others. What must be destroyed lies in a buffer.
for count = kShown, 1, -1 do
  local function alternatives(v, held)
    local pieces, rest = {}, v._M_u
    for i = 0, count - 1 do
      pieces[#pieces + 1] = dj.when(dj.equal(v._M_index, i), {"{" .. i .. ": ", held(rest._M_first), "}"})
      rest = rest._M_rest
    end
    return pieces
  end
  dj.printer("variant<*", function(v)
    return alternatives(v, function(first) return dj.argument(first, 1) end)
  end)
end

for _, tree in ipairs({"map", "set", "multimap", "multiset"}) do
  dj.printer(tree .. "<*", function(v)
    local header, size = v._M_t._M_impl._M_header, v._M_t._M_impl._M_node_count
    local function element(node) return dj.at(node + 32, dj.argument(v._M_t, 2)) end
    return {"{size=", dj.number(size), ", [", dj.when(size, {element(header._M_left)}), dj.when(dj.equal(size, 3), {", ", element(header._M_parent)}),
            dj.when(dj.less(3, size), {", ..."}), dj.when(dj.less(1, size), {", ", element(header._M_right)}), "]}"}
  end)
  dj.printer("unordered_" .. tree .. "<*", function(v)
    local h = v._M_h
    return chain(h._M_element_count, h._M_before_begin._M_nxt, function(node) return node._M_nxt end,
                 function(node) return dj.at(node + 8, dj.argument(h, 2)) end)
  end)
end

dj.printer("list<*", function(v)
  local head = v._M_impl._M_node
  return chain(head._M_size, head._M_next, function(node) return node._M_next end,
               function(node) return dj.at(node + 16, dj.argument(v, 1)) end)
end)

-- Of the old ABI (_GLIBCXX_USE_CXX11_ABI=0): a ring of nodes, which nobody has counted.
dj.printer("list<*", function(v)
  local head, kMost = v._M_impl._M_node, 4000
  local size = dj.count(head._M_next, dj.address(head), kMost)
  return chain(dj.count(head._M_next, dj.address(head), kShown + 1), head._M_next, function(node) return node._M_next end,
               function(node) return dj.at(node + 16, dj.argument(v, 1)) end,
               dj.when(dj.less(size, kMost), {dj.number(size)}, {kMost .. " or more"}))
end)

dj.printer("forward_list<*", function(v)
  local pieces, node = {"["}, v._M_impl._M_head._M_next
  for i = 0, kShown - 1 do -- behind the last there is nothing to read, so nothing shows
    pieces[#pieces + 1] = dj.when(node, {i > 0 and ", " or "", dj.at(node + 8, dj.argument(v, 1))})
    node = node._M_next
  end
  pieces[#pieces + 1] = dj.when(node, {", ..."})
  pieces[#pieces + 1] = "]"
  return pieces
end)

dj.printer("atomic<*", function(v) return {v._M_i} end)
dj.printer("atomic<*", function(v) return {v._M_b._M_p} end)
dj.printer("atomic<*", function(v) return {v._M_base._M_i} end)
