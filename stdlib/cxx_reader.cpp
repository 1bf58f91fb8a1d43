// SPDX-License-Identifier: Apache-2.0
// Mangled C++ type -> nodes, by recursive descent. What was read once has a number by which the
// rest of the name may mean it (substitutions).
#include "stdlib/cxx_names.h"

namespace dj::cxx {

const Word kWords[] = {{"v", "void"},
                       {"w", "wchar_t"},
                       {"b", "bool"},
                       {"c", "char"},
                       {"a", "signed char"},
                       {"h", "unsigned char"},
                       {"s", "short"},
                       {"t", "unsigned short"},
                       {"i", "int"},
                       {"j", "unsigned int"},
                       {"l", "long"},
                       {"m", "unsigned long"},
                       {"x", "long long"},
                       {"y", "unsigned long long"},
                       {"n", "__int128"},
                       {"o", "unsigned __int128"},
                       {"f", "float"},
                       {"d", "double"},
                       {"e", "long double"},
                       {"g", "__float128"},
                       {"z", "..."},
                       {"Dn", "decltype(nullptr)"},
                       {"Di", "char32_t"},
                       {"Ds", "char16_t"},
                       {"Du", "char8_t"},
                       {"Dh", "half"},
                       {"Df", "decimal32"},
                       {"Dd", "decimal64"},
                       {"De", "decimal128"},
                       {"St", "std"},
                       {"Sa", "std::allocator"},
                       {"Sb", "std::basic_string"},
                       {"Ss", "std::string"},
                       {"Si", "std::istream"},
                       {"So", "std::ostream"},
                       {"Sd", "std::iostream"},
                       {"cl", "operator()"}};
static_assert(sizeof kWords / sizeof kWords[0] == kLibraryWords + 1);

namespace {

constexpr uint32_t kDepth = 64;
constexpr uint16_t kSubstitutions = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  explicit Reader(const Name& name) : name_(name) {}

  uint16_t whole() {
    uint16_t node = type();
    return at_ == name_.length ? node : 0;
  }

 private:
  char peek(uint32_t ahead = 0) const {
    return at_ + ahead < name_.length ? name_.text[at_ + ahead] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take(char first, char second) {
    if (peek() != first || peek(1) != second) return false;
    at_ += 2;
    return true;
  }
  uint16_t make(Kind kind, uint16_t a, uint16_t b = 0, uint16_t mark = 0) {
    if (used_ >= name_.room) return 0;
    name_.nodes[used_] = {kind, mark, a, b};
    return used_++;
  }
  // Of parts that must be there.
  uint16_t join(Kind kind, uint16_t a, uint16_t b, uint16_t mark = 0) {
    return a == 0 || b == 0 ? 0 : make(kind, a, b, mark);
  }
  uint16_t remember(uint16_t node) {
    if (node == 0 || known_ == kSubstitutions) return 0;
    return seen_[known_++] = node;
  }
  // Decimal; false: there is none, or it is absurd.
  bool number(uint32_t* value) {
    if (!is_digit(peek())) return false;
    for (*value = 0; is_digit(peek()); ++at_) {
      *value = *value * 10 + static_cast<uint32_t>(peek() - '0');
      if (*value > 0xffff) return false;
    }
    return true;
  }
  // The number in front of '_': none is 0, n is n + 1. Digits of base 10 or 36.
  bool counted(uint32_t base, uint32_t* value) {
    *value = 0;
    bool some = false;
    for (; peek() != '_'; ++at_, some = true) {
      char c = peek();
      bool letter = base == 36 && c >= 'A' && c <= 'Z';
      if (!is_digit(c) && !letter) return false;
      *value = *value * base + static_cast<uint32_t>(letter ? c - 'A' + 10 : c - '0');
      if (*value > 0xffff) return false;
    }
    ++at_;
    *value += some;
    return true;
  }

  uint16_t word(uint16_t begin, uint16_t end) {
    for (uint16_t i = begin; i < end; ++i) {
      const char* code = kWords[i].code;
      if (peek() != code[0] || (code[1] != '\0' && peek(1) != code[1])) continue;
      at_ += code[1] == '\0' ? 1 : 2;
      return make(Kind::Word, i);
    }
    return 0;
  }

  uint16_t type();
  uint16_t plain_type();
  uint16_t qualified();
  uint16_t function(uint16_t mark);
  uint16_t array();
  uint16_t list(bool (Reader::*at_end)());
  bool list_end() { return take('E'); }
  bool parameters_end();
  uint16_t class_name(bool* is_known);
  uint16_t nested();
  uint16_t local();
  uint16_t entity();
  uint16_t component();
  uint16_t source_name();
  uint16_t anonymous();
  uint16_t substitution();
  uint16_t parameter();
  uint16_t instance(uint16_t of);
  uint16_t argument();
  uint16_t literal();

  const Name& name_;
  uint32_t at_ = 0, depth_ = 0;
  uint16_t used_ = 1, known_ = 0;
  uint16_t arguments_ = 0;    // of the template whose function is read: what T_ means
  uint16_t last_name_ = 0;    // what constructors are called
  uint16_t member_mark_ = 0;  // const and & of a member function
  uint16_t seen_[kSubstitutions];
};

uint16_t Reader::type() {
  if (depth_ == kDepth) return 0;
  ++depth_;
  uint16_t node = plain_type();
  --depth_;
  return node;
}

uint16_t Reader::plain_type() {
  switch (peek()) {
    case 'P':
    case 'R':
    case 'O': {
      uint16_t mark = peek() == 'P' ? kPointer : peek() == 'R' ? kReference : kMoved;
      ++at_;
      uint16_t to = type();
      return to == 0 ? 0 : remember(make(Kind::Modified, to, 0, mark));
    }
    case 'r':
    case 'V':
    case 'K':
      return remember(qualified());
    case 'F':
      return remember(function(0));
    case 'A':
      return remember(array());
    case 'M': {
      ++at_;
      uint16_t of = type();
      return remember(join(Kind::Member, of, of == 0 ? 0 : type()));
    }
    case 'D':
      if (take('D', 'o')) return remember(function(kNoexcept));
      return word(0, kBuiltinTypes);
    case 'T': {
      uint16_t meant = remember(parameter());
      return peek() == 'I' ? remember(instance(meant)) : meant;
    }
    default:
      break;
  }
  if (peek() == 'S' || peek() == 'N' || peek() == 'Z' || is_digit(peek())) {
    bool is_known = false;
    uint16_t node = class_name(&is_known);
    return is_known ? node : remember(node);
  }
  return word(0, kBuiltinTypes);
}

// const and the like, which are one substitution together with what they belong to.
uint16_t Reader::qualified() {
  uint16_t mark = 0;
  for (;;) {
    if (take('r')) {
      mark |= kRestrict;
    } else if (take('V')) {
      mark |= kVolatile;
    } else if (take('K')) {
      mark |= kConst;
    } else {
      break;
    }
  }
  if (peek() == 'F') return function(mark);
  uint16_t of = type();
  return of == 0 ? 0 : make(Kind::Modified, of, 0, mark);
}

uint16_t Reader::function(uint16_t mark) {
  if (!take('F')) return 0;
  take('Y');
  uint16_t gives = type();
  if (gives == 0) return 0;
  uint16_t parameters = list(&Reader::parameters_end);
  if (take('R')) mark |= kReference;
  if (take('O')) mark |= kMoved;
  return !take('E') || parameters == 0 ? 0 : make(Kind::Function, gives, parameters, mark);
}

bool Reader::parameters_end() {
  char next = peek();
  bool marked = (next == 'R' || next == 'O') && peek(1) == 'E';
  return next == 'E' || next == '\0' || marked;
}

uint16_t Reader::array() {
  ++at_;
  uint32_t begin = at_;
  while (is_digit(peek())) ++at_;
  uint16_t bounds =
      make(Kind::Text, static_cast<uint16_t>(begin), static_cast<uint16_t>(at_ - begin));
  return take('_') ? join(Kind::Array, type(), bounds) : 0;
}

// Elements up to where at_end() says; a first node without an element, so that 0 is a failure.
uint16_t Reader::list(bool (Reader::*at_end)()) {
  uint16_t head = make(Kind::List, 0), last = head;
  while (head != 0 && !(this->*at_end)()) {
    uint16_t element = at_end == &Reader::list_end ? argument() : type();
    uint16_t next = element == 0 ? 0 : make(Kind::List, element);
    if (next == 0) return 0;
    name_.nodes[last].b = next;
    last = next;
  }
  return head;
}

// *is_known: it has a number already.
uint16_t Reader::class_name(bool* is_known) {
  if (peek() == 'N') return nested();
  if (peek() == 'Z') return local();
  uint16_t node = 0;
  if (peek() == 'S' && peek(1) != 't') {
    node = substitution();
    *is_known = peek() != 'I';
  } else {
    uint16_t scope = peek() == 'S' ? word(kBuiltinTypes, kLibraryWords) : 0;
    bool in_std = scope != 0;
    node = component();
    if (in_std) node = join(Kind::Scope, scope, node);
    if (peek() == 'I') remember(node);
  }
  return node != 0 && peek() == 'I' ? instance(node) : node;
}

// N [const &] parts E.
uint16_t Reader::nested() {
  ++at_;
  member_mark_ = 0;
  while (peek() == 'r' || peek() == 'V' || peek() == 'K') {
    member_mark_ |= peek() == 'K' ? kConst : peek() == 'V' ? kVolatile : kRestrict;
    ++at_;
  }
  if (take('R')) member_mark_ |= kReference;
  if (take('O')) member_mark_ |= kMoved;
  uint16_t mark = member_mark_, node = 0;
  while (!take('E')) {
    bool is_known = false;
    if (peek() == 'I') {
      if (node == 0) return 0;
      uint16_t class_of = last_name_;
      node = instance(node);
      last_name_ = class_of;  // not that of an argument
    } else if (peek() == 'S' && node == 0) {
      is_known = true;
      node = peek(1) == 't' ? word(kBuiltinTypes, kLibraryWords) : substitution();
    } else if (peek() == 'T' && node == 0) {
      node = parameter();
    } else {
      uint16_t part = component();
      node = node == 0 ? part : join(Kind::Scope, node, part);
      take('M');  // a member whose first value has the lambda that follows
    }
    if (node == 0) return 0;
    if (!is_known && peek() != 'E' && remember(node) == 0) return 0;
  }
  member_mark_ = mark;
  return node;
}

// Z function E name: a class inside of a function.
uint16_t Reader::local() {
  ++at_;
  uint16_t outer = arguments_, scope = entity();
  if (!take('E')) return 0;
  uint16_t inner = component();
  if (take('_')) {  // which one of that name
    uint32_t number_of = 0;
    if (take('_') ? !number(&number_of) || !take('_') : !is_digit(peek())) return 0;
    if (is_digit(peek())) ++at_;
  }
  uint16_t node = join(Kind::Scope, scope, inner);
  if (node != 0 && peek() == 'I') {
    remember(node);
    node = instance(node);
  }
  arguments_ = outer;
  return node;
}

// A function's name and its type; of templates the type begins with what it returns.
uint16_t Reader::entity() {
  bool is_known = false;
  arguments_ = 0;
  member_mark_ = 0;
  uint16_t function_name = class_name(&is_known);
  if (function_name == 0) return 0;
  uint16_t mark = member_mark_;
  bool is_template = name_.nodes[function_name].kind == Kind::Instance;
  if (is_template) arguments_ = name_.nodes[function_name].b;
  if (peek() == 'E') return function_name;   // main, and what else has no type in its name
  if (is_template && type() == 0) return 0;  // what it returns is not shown
  uint16_t parameters = list(&Reader::parameters_end);
  uint16_t signature = parameters == 0 ? 0 : make(Kind::Function, 0, parameters, mark);
  return join(Kind::Entity, function_name, signature);
}

// One name between two ::, with its tags.
uint16_t Reader::component() {
  uint16_t node = 0;
  if ((peek() == 'C' || peek() == 'D') && is_digit(peek(1)) && last_name_ != 0) {
    uint16_t destructor = peek() == 'D' ? '~' : 0;
    at_ += 2;
    return make(Kind::Text, name_.nodes[last_name_].a, name_.nodes[last_name_].b, destructor);
  }
  if (peek() == 'c') {
    node = word(kLibraryWords, kLibraryWords + 1);
  } else if (peek() == 'U') {
    node = anonymous();
  } else {
    take('L');  // internal linkage
    node = source_name();
  }
  while (node != 0 && take('B')) {
    if (source_name() == 0) return 0;  // a tag, which nobody writes
  }
  return node;
}

uint16_t Reader::source_name() {
  uint32_t length = 0;
  if (!number(&length) || length == 0 || length > name_.length - at_) return 0;
  uint16_t node = make(Kind::Text, static_cast<uint16_t>(at_), static_cast<uint16_t>(length));
  at_ += length;
  return last_name_ = node;
}

// Ut_, Ut0_ ..; Ul parameters E _.
uint16_t Reader::anonymous() {
  bool lambda = peek(1) == 'l';
  if (!lambda && peek(1) != 't') return 0;
  at_ += 2;
  uint16_t parameters = lambda ? list(&Reader::parameters_end) : 0;
  uint32_t number_of = 0;
  if (lambda && (parameters == 0 || !take('E'))) return 0;
  return counted(10, &number_of)
             ? make(Kind::Anonymous, parameters, 0, static_cast<uint16_t>(number_of + 1))
             : 0;
}

// S_, S0_ .. of what was read; Sa, Ss .. of the library.
uint16_t Reader::substitution() {
  if (uint16_t abbreviation = word(kBuiltinTypes, kLibraryWords)) return abbreviation;
  uint32_t which = 0;
  ++at_;
  return counted(36, &which) && which < known_ ? seen_[which] : 0;
}

// T_, T0_ ..: an argument of the template that is read.
uint16_t Reader::parameter() {
  uint32_t which = 0;
  ++at_;
  if (!counted(10, &which) || arguments_ == 0) return 0;
  uint16_t entry = name_.nodes[arguments_].b;
  while (entry != 0 && which-- > 0) entry = name_.nodes[entry].b;
  return entry == 0 ? 0 : name_.nodes[entry].a;
}

uint16_t Reader::instance(uint16_t of) {
  ++at_;  // I
  return join(Kind::Instance, of, of == 0 ? 0 : list(&Reader::list_end));
}

uint16_t Reader::argument() {
  if (peek() == 'L') return literal();
  if (take('J')) return depth_ < kDepth ? list(&Reader::list_end) : 0;
  return type();
}

// L type digits E.
uint16_t Reader::literal() {
  ++at_;
  if (peek() == '_') return 0;  // a function's address
  uint16_t of = type();
  uint16_t sign = take('n') ? '-' : 0;
  uint32_t begin = at_;
  while (is_digit(peek())) ++at_;
  uint16_t digits =
      make(Kind::Text, static_cast<uint16_t>(begin), static_cast<uint16_t>(at_ - begin));
  if (at_ == begin || !take('E')) return 0;
  return join(Kind::Number, of, digits, sign);
}

}  // namespace

uint16_t read_type(const Name& name) {
  if (name.length > 0xffff) return 0;
  return Reader(name).whole();
}

}  // namespace dj::cxx
