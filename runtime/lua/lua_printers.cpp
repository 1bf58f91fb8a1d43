// SPDX-License-Identifier: Apache-2.0
// A stand-in is a userdata with the index of a PrintNode; its metatable makes nodes of operators.
#include "runtime/lua/lua_printers.h"

#include <lua.hpp>

namespace dj {
namespace {

constexpr const char* kNode = "djtap.node";
constexpr size_t kMaxNodes = 100'000;
constexpr int kMaxDepth = 8;          // of pieces in pieces
constexpr lua_Integer kElements = 8;  // of dj.each
constexpr lua_Integer kNodes = 4000;  // of dj.count

TypePrinters& printers_of(lua_State* state) {
  return *static_cast<TypePrinters*>(lua_touserdata(state, lua_upvalueindex(1)));
}

int push_node(lua_State* state, PrintNode node) {
  std::vector<PrintNode>& nodes = printers_of(state).nodes;
  if (nodes.size() >= kMaxNodes) return luaL_error(state, "too many steps in printers");
  *static_cast<uint32_t*>(lua_newuserdatauv(state, sizeof(uint32_t), 0)) =
      static_cast<uint32_t>(nodes.size());
  nodes.push_back(std::move(node));
  luaL_setmetatable(state, kNode);
  return 1;
}

// A stand-in, or a number, which becomes one.
uint32_t node_argument(lua_State* state, int number) {
  if (lua_isinteger(state, number)) {
    push_node(state, {PrintNode::Constant, 0, 0, lua_tointeger(state, number), {}});
    lua_replace(state, number);
  }
  return *static_cast<uint32_t*>(luaL_checkudata(state, number, kNode));
}

// v.member and v[number]
int index(lua_State* state) {
  uint32_t left = node_argument(state, 1);
  if (lua_isinteger(state, 2))
    return push_node(state, {PrintNode::Element, left, 0, lua_tointeger(state, 2), {}});
  return push_node(state, {PrintNode::Field, left, 0, 0, luaL_checkstring(state, 2)});
}

// Is it known before the program runs? Then handlers need not fear that it is 0.
bool is_known_before(const std::vector<PrintNode>& nodes, uint32_t number) {
  const PrintNode& node = nodes[number];
  if (node.op < PrintNode::Add) return node.op == PrintNode::Constant || node.op == PrintNode::Size;
  return is_known_before(nodes, node.left) && is_known_before(nodes, node.right);
}

template <PrintNode::Op op>
int binary(lua_State* state) {
  uint32_t left = node_argument(state, 1), right = node_argument(state, 2);
  bool divides = op == PrintNode::Div || op == PrintNode::Mod;
  if (divides && !is_known_before(printers_of(state).nodes, right))
    return luaL_error(state, "only a number or dj.bytes() may divide");
  return push_node(state, {op, left, right, 0, {}});
}

template <PrintNode::Op op>
int unary(lua_State* state) {
  return push_node(state, {op, node_argument(state, 1), 0, 0, {}});
}

// dj.cast(v, "type")
int cast(lua_State* state) {
  return push_node(state,
                   {PrintNode::Cast, node_argument(state, 1), 0, 0, luaL_checkstring(state, 2)});
}

// dj.base(v, "pattern")
int base(lua_State* state) {
  return push_node(state,
                   {PrintNode::Base, node_argument(state, 1), 0, 0, luaL_checkstring(state, 2)});
}

// dj.argument(v, n)
int argument(lua_State* state) {
  lua_Integer number = luaL_checkinteger(state, 2);
  return push_node(state, {PrintNode::Argument, node_argument(state, 1), 0, number, {}});
}

// dj.at(address, like)
int at(lua_State* state) {
  uint32_t address = node_argument(state, 1);
  return push_node(state, {PrintNode::At, address, node_argument(state, 2), 0, {}});
}

// dj.count(first, last [, most])
int count(lua_State* state) {
  uint32_t first = node_argument(state, 1), last = node_argument(state, 2);
  lua_Integer most = luaL_optinteger(state, 3, kNodes);
  luaL_argcheck(state, most >= 1 && most <= kNodes, 3, "1 to 4000");
  return push_node(state, {PrintNode::Count, first, last, most, {}});
}

// Pieces other than texts and stand-ins are tables; what they are stands in hidden keys.
enum Key : int { kKindKey = 1, kNodeKey, kOtherKey, kLimitKey, kPiecesKey, kOthersKey };

void set_number(lua_State* state, Key key, lua_Integer number) {
  lua_pushinteger(state, number);
  lua_rawsetp(state, -2, reinterpret_cast<void*>(key));
}

// A table of that kind about argument 1.
void begin_piece(lua_State* state, PrintPiece::Kind kind) {
  uint32_t node = node_argument(state, 1);
  lua_newtable(state);
  set_number(state, kKindKey, kind);
  set_number(state, kNodeKey, node);
}

template <PrintPiece::Kind kind>
int piece(lua_State* state) {
  begin_piece(state, kind);
  return 1;
}

// dj.text(address [, bytes])
int text(lua_State* state) {
  bool counted = !lua_isnoneornil(state, 2);
  uint32_t bytes = counted ? node_argument(state, 2) : 0;
  begin_piece(state, PrintPiece::Text);
  if (counted) set_number(state, kOtherKey, bytes);
  return 1;
}

// dj.when(v, {pieces} [, {pieces}])
int when(lua_State* state) {
  luaL_checktype(state, 2, LUA_TTABLE);
  if (!lua_isnoneornil(state, 3)) luaL_checktype(state, 3, LUA_TTABLE);
  lua_settop(state, 3);
  begin_piece(state, PrintPiece::When);
  lua_pushvalue(state, 2);
  lua_rawsetp(state, -2, reinterpret_cast<void*>(kPiecesKey));
  lua_pushvalue(state, 3);
  lua_rawsetp(state, -2, reinterpret_cast<void*>(kOthersKey));
  return 1;
}

// dj.each(pointer, count [, limit])
int each(lua_State* state) {
  uint32_t count = node_argument(state, 2);
  lua_Integer limit = luaL_optinteger(state, 3, kElements);
  luaL_argcheck(state, limit >= 1 && limit <= 64, 3, "1 to 64");
  begin_piece(state, PrintPiece::Each);
  set_number(state, kOtherKey, count);
  set_number(state, kLimitKey, limit);
  return 1;
}

// The number at a hidden key of the table on top; -1: none.
lua_Integer get_number(lua_State* state, Key key) {
  lua_Integer number = lua_rawgetp(state, -1, reinterpret_cast<void*>(key)) == LUA_TNUMBER
                           ? lua_tointeger(state, -1)
                           : -1;
  lua_pop(state, 1);
  return number;
}

void read_pieces(lua_State* state, std::vector<PrintPiece>& out, int depth);

// The table on top, made by one of the functions above.
PrintPiece read_table(lua_State* state, int depth) {
  PrintPiece made;
  lua_Integer kind = get_number(state, kKindKey);
  if (kind < 0) luaL_error(state, "a piece is a text, a value, or made by a function of dj");
  made.kind = static_cast<PrintPiece::Kind>(kind);
  made.node = static_cast<uint32_t>(get_number(state, kNodeKey));
  lua_Integer other = get_number(state, kOtherKey);
  made.has_other = other >= 0;
  made.other = made.has_other ? static_cast<uint32_t>(other) : 0;
  made.limit = static_cast<uint32_t>(get_number(state, kLimitKey));
  if (made.kind == PrintPiece::When) {
    lua_rawgetp(state, -1, reinterpret_cast<void*>(kPiecesKey));
    read_pieces(state, made.pieces, depth + 1);
    lua_rawgetp(state, -1, reinterpret_cast<void*>(kOthersKey));
    read_pieces(state, made.others, depth + 1);
  }
  return made;
}

// Takes the list (or nil) from the stack.
void read_pieces(lua_State* state, std::vector<PrintPiece>& out, int depth) {
  if (depth > kMaxDepth)
    luaL_error(state, "dj.when within each other more than %d times", kMaxDepth);
  luaL_checkstack(state, 8, nullptr);
  lua_Integer count = lua_istable(state, -1) ? luaL_len(state, -1) : 0;
  for (lua_Integer i = 1; i <= count; ++i) {
    PrintPiece made;
    if (lua_geti(state, -1, i) == LUA_TTABLE) {
      made = read_table(state, depth);
    } else if (void* node = luaL_testudata(state, -1, kNode)) {
      made.kind = PrintPiece::Value;
      made.node = *static_cast<uint32_t*>(node);
    } else if (const char* literal = lua_tostring(state, -1)) {
      made.text = literal;
    } else {
      luaL_error(state, "piece %I is neither a text nor a value", i);
    }
    out.push_back(std::move(made));
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
}

// dj.printer("pattern", function(v) return {pieces} end)
int printer(lua_State* state) {
  TypePrinter made;
  made.pattern = luaL_checkstring(state, 1);
  luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  push_node(state, {});
  lua_call(state, 1, 1);
  if (!lua_istable(state, -1)) return luaL_error(state, "a printer gives a list of pieces");
  read_pieces(state, made.pieces, 0);
  printers_of(state).rows.push_back(std::move(made));
  return 0;
}

}  // namespace

void add_printer_functions(lua_State* state, TypePrinters& printers) {
  using Op = PrintNode::Op;
  constexpr luaL_Reg kOperators[] = {
      {"__index", index},          {"__add", binary<Op::Add>},  {"__sub", binary<Op::Sub>},
      {"__mul", binary<Op::Mul>},  {"__div", binary<Op::Div>},  {"__idiv", binary<Op::Div>},
      {"__mod", binary<Op::Mod>},  {"__band", binary<Op::And>}, {"__bor", binary<Op::Or>},
      {"__bxor", binary<Op::Xor>}, {"__shl", binary<Op::Shl>},  {"__shr", binary<Op::Shr>},
      {nullptr, nullptr}};
  constexpr luaL_Reg kFunctions[] = {{"printer", printer},
                                     {"cast", cast},
                                     {"base", base},
                                     {"argument", argument},
                                     {"at", at},
                                     {"count", count},
                                     {"address", unary<Op::Address>},
                                     {"bytes", unary<Op::Size>},
                                     {"equal", binary<Op::Eq>},
                                     {"less", binary<Op::Lt>},
                                     {"number", piece<PrintPiece::Number>},
                                     {"hex", piece<PrintPiece::Hex>},
                                     {"text", text},
                                     {"when", when},
                                     {"each", each},
                                     {nullptr, nullptr}};
  lua_pushlightuserdata(state, &printers);
  luaL_setfuncs(state, kFunctions, 1);
  luaL_newmetatable(state, kNode);
  lua_pushlightuserdata(state, &printers);
  luaL_setfuncs(state, kOperators, 1);
  lua_pop(state, 1);
}

}  // namespace dj
