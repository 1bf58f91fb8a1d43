// SPDX-License-Identifier: Apache-2.0
// Nodes of a C++ type -> text, as abi::__cxa_demangle of libstdc++ writes it: what stands before a
// declared name, then what stands behind it.
#include "runtime/agent/scratch.h"
#include "stdlib/cxx_names.h"
#include "stdlib/entries.h"

namespace dj::cxx {
namespace {

constexpr uint32_t kSteps = 20'000;  // nodes; substitutions can mean each other many times over

class Writer {
 public:
  Writer(const Name& name, char* out, uint32_t room) : name_(name), out_(out), room_(room) {}
  void type(uint16_t node) {
    before(node);
    behind(node);
  }
  uint32_t length() const { return length_; }

 private:
  const Node& at(uint16_t node) const { return name_.nodes[node]; }
  Kind kind(uint16_t node) const { return node == 0 ? Kind::Text : at(node).kind; }
  bool takes_brackets(uint16_t node) const {
    return kind(node) == Kind::Function || kind(node) == Kind::Array;
  }
  void put(char c) {
    if (length_ < room_) out_[length_] = c;
    ++length_;
    last_ = c;
  }
  void put(const char* text) {
    while (*text != '\0') put(*text++);
  }
  void digits(uint32_t value) {
    if (value >= 10) digits(value / 10);
    put(static_cast<char>('0' + value % 10));
  }
  void text(const Node& node);
  void mark(uint16_t mark);
  void open_bracket(uint16_t node);
  void before(uint16_t node);
  void behind(uint16_t node);
  bool list(uint16_t head, bool some);
  void parameters(uint16_t head);
  void instance(const Node& node);
  void number(const Node& node);
  void entity(const Node& node);
  void signature(const Node& node);

  const Name& name_;
  char* out_;
  uint32_t room_, length_ = 0, steps_ = 0;
  char last_ = '\0';
};

void Writer::text(const Node& node) {
  static const char kNamespace[] = "_GLOBAL__N_";
  const char* begin = name_.text + node.a;
  uint32_t same = 0;
  while (same < sizeof kNamespace - 1 && same < node.b && begin[same] == kNamespace[same]) ++same;
  if (node.mark != 0) put('~');
  if (same == sizeof kNamespace - 1) return put("(anonymous namespace)");
  for (uint32_t i = 0; i < node.b; ++i) put(begin[i]);
}

void Writer::mark(uint16_t mark) {
  if (mark & kConst) put(" const");
  if (mark & kVolatile) put(" volatile");
  if (mark & kRestrict) put(" restrict");
  if (mark & kPointer) put('*');
  if (mark & kReference) put('&');
  if (mark & kMoved) put("&&");
}

// "void (" of a pointer to a function, "int (" of one to an array.
void Writer::open_bracket(uint16_t node) {
  if (kind(node) == Kind::Array) put(' ');
  if (takes_brackets(node)) put('(');
}

void Writer::before(uint16_t index) {
  if (index == 0 || ++steps_ > kSteps || length_ > room_) return;
  const Node& node = at(index);
  switch (node.kind) {
    case Kind::Text:
      return text(node);
    case Kind::Word:
      return put(kWords[node.a].text);
    case Kind::Scope:
      type(node.a);
      put("::");
      return type(node.b);
    case Kind::Instance:
      return instance(node);
    case Kind::List:
      list(index, false);
      return;
    case Kind::Modified:
      before(node.a);
      open_bracket(node.a);
      return mark(node.mark);
    case Kind::Array:
      return before(node.a);
    case Kind::Function:
      before(node.a);
      // Not behind "int (*" of a function that returns a pointer to a function.
      if (kind(node.a) != Kind::Modified || !takes_brackets(at(node.a).a)) put(' ');
      return;
    case Kind::Member:
      before(node.b);
      if (takes_brackets(node.b)) {
        open_bracket(node.b);
      } else {
        put(' ');
      }
      type(node.a);
      return put("::*");
    case Kind::Number:
      return number(node);
    case Kind::Anonymous:
      put(node.a == 0 ? "{unnamed type" : "{lambda");
      if (node.a != 0) parameters(node.a);
      put('#');
      digits(node.mark);
      return put('}');
    case Kind::Entity:
      return entity(node);
  }
}

void Writer::behind(uint16_t index) {
  if (index == 0 || ++steps_ > kSteps || length_ > room_) return;
  const Node& node = at(index);
  switch (node.kind) {
    case Kind::Modified:
      if (takes_brackets(node.a)) put(')');
      return behind(node.a);
    case Kind::Member:
      if (takes_brackets(node.b)) put(')');
      return behind(node.b);
    case Kind::Array:
      if (last_ != ']') put(' ');
      put('[');
      text(at(node.b));
      put(']');
      return behind(node.a);
    case Kind::Function:
      return signature(node);
    default:
      return;
  }
}

// some: an element stands before. Returns whether one stands there now; packs may be empty.
bool Writer::list(uint16_t head, bool some) {
  for (uint16_t entry = at(head).b; entry != 0; entry = at(entry).b) {
    uint16_t element = at(entry).a;
    if (kind(element) == Kind::List) {
      some = list(element, some);
      continue;
    }
    if (some) put(", ");
    type(element);
    some = true;
  }
  return some;
}

// (void) is ().
void Writer::parameters(uint16_t head) {
  put('(');
  uint16_t first = at(head).b;
  bool nothing =
      first != 0 && at(first).b == 0 && kind(at(first).a) == Kind::Word && at(at(first).a).a == 0;
  if (!nothing) list(head, false);
  put(')');
}

void Writer::instance(const Node& node) {
  type(node.a);
  put('<');
  list(node.b, false);
  if (last_ == '>') put(' ');
  put('>');
}

// true, 5, 5ul, (shop::color)1
void Writer::number(const Node& node) {
  static const char kEndings[][4] = {"i", "", "j", "u", "l", "l", "m", "ul", "x", "ll", "y", "ull"};
  const Node& digits_node = at(node.b);
  const char* code = kind(node.a) == Kind::Word ? kWords[at(node.a).a].code : "";
  if (code[0] == 'b' && digits_node.b == 1)
    return put(name_.text[digits_node.a] == '0' ? "false" : "true");
  const char* ending = nullptr;
  for (uint32_t i = 0; i < sizeof kEndings / sizeof kEndings[0]; i += 2) {
    if (code[0] == kEndings[i][0] && code[1] == '\0') ending = kEndings[i + 1];
  }
  if (ending == nullptr) {
    put('(');
    type(node.a);
    put(')');
  }
  if (node.mark != 0) put('-');
  text(digits_node);
  if (ending != nullptr) put(ending);
}

// "shop::box<int>::open(int) const"
void Writer::entity(const Node& node) {
  type(node.a);
  signature(at(node.b));
}

// Parameters, and what stands behind them.
void Writer::signature(const Node& node) {
  parameters(node.b);
  behind(node.a);
  mark(node.mark & (kConst | kVolatile | kRestrict));
  if (node.mark & (kReference | kMoved)) put(' ');
  mark(node.mark & (kReference | kMoved));
  if (node.mark & kNoexcept) put(" noexcept");
}

}  // namespace

uint32_t write_type(const Name& name, uint16_t node, char* out, uint32_t room) {
  Writer writer(name, out, room);
  writer.type(node);
  return writer.length();
}

}  // namespace dj::cxx

// A name that is not understood is given as it stands, without the * of a class that only one unit
// knows.
const dj::abi::Str* dj_cxx_class(dj::abi::Context* ctx, const dj::abi::Str* s) {
  using namespace dj;
  const abi::Text given = abi::text_of(s);
  bool hidden = given.len > 0 && given.data[0] == '*';
  abi::Str* made = agent::string_room(ctx);
  if (made == nullptr) {
    agent::count_skip(abi::kSkipStringBudget);
    return agent::empty_string();
  }
  uint32_t max = agent::arena()->max_string;
  uint32_t nodes = ctx->scratch_used + agent::round_word(sizeof(uint32_t) + max);
  uint32_t room = (ctx->iterators - nodes) / sizeof(cxx::Node);
  cxx::Name name = {given.data + hidden, given.len - hidden,
                    reinterpret_cast<cxx::Node*>(ctx->scratch + nodes),
                    static_cast<uint16_t>(room < cxx::kMostNodes ? room : cxx::kMostNodes)};
  uint16_t node = cxx::read_type(name);
  if (node == 0) return agent::make_string(ctx, name.text, name.length);
  made->len = cxx::write_type(name, node, made->data, max);
  if (made->len > max) {
    made->len = max;
    agent::count_skip(abi::kSkipStringCut);
  }
  return made->len == 0 ? agent::empty_string() : agent::keep_string(ctx, made);
}
