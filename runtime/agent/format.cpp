// SPDX-License-Identifier: Apache-2.0
// The printf of the language: one formatter for sprintf in the agent and for events in djtap.
// Bounded work: widths and precisions end at kMaxWidth.
#include "runtime/shared/format.h"

#include "runtime/shared/double_text.h"

namespace dj::abi {
namespace {

constexpr uint32_t kMaxWidth = 4096;

// Output that counts what does not fit.
struct Out {
  char* at;
  uint64_t room;
  uint64_t length = 0;
  void put(char c) {
    if (length < room) at[length] = c;
    ++length;
  }
  void fill(char c, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) put(c);
  }
  void text(const char* data, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) put(data[i]);
  }
};

struct Conversion {
  bool left = false, zero = false, plus = false, space = false, alternate = false;
  bool width_star = false, precision_star = false, has_precision = false;
  uint32_t width = 0, precision = 0;
  char letter = 0;  // 0: the format ended
};

struct Parser {
  const char* format;
  uint32_t length;
  uint32_t at = 0;

  char peek() const { return at < length ? format[at] : '\0'; }
  uint32_t number(bool* star) {
    if (peek() == '*') {
      ++at;
      *star = true;
      return 0;
    }
    uint32_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at) {
      if (value <= kMaxWidth) value = value * 10 + static_cast<uint32_t>(peek() - '0');
    }
    return value < kMaxWidth ? value : kMaxWidth;
  }
  bool flag(Conversion& c) {
    switch (peek()) {
      case '-':
        c.left = true;
        break;
      case '0':
        c.zero = true;
        break;
      case '+':
        c.plus = true;
        break;
      case ' ':
        c.space = true;
        break;
      case '#':
        c.alternate = true;
        break;
      default:
        return false;
    }
    ++at;
    return true;
  }
  // Behind a '%'.
  Conversion conversion() {
    Conversion c;
    while (flag(c)) {
    }
    c.width = number(&c.width_star);
    if (peek() == '.') {
      ++at;
      c.has_precision = true;
      c.precision = number(&c.precision_star);
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'j' || peek() == 'z' || peek() == 't') ++at;
    c.letter = peek();
    if (at < length) ++at;
    return c;
  }
};

void put_padded(Out& out, const Conversion& c, const char* data, uint32_t length) {
  uint32_t padding = c.width > length ? c.width - length : 0;
  if (!c.left) out.fill(' ', padding);
  out.text(data, length);
  if (c.left) out.fill(' ', padding);
}

uint32_t base_of(char letter) {
  switch (letter) {
    case 'x':
    case 'X':
    case 'p':
      return 16;
    case 'o':
      return 8;
    default:
      return 10;
  }
}

void put_number(Out& out, const Conversion& c, uint64_t value) {
  bool is_signed = c.letter == 'd' || c.letter == 'i';
  bool negative = is_signed && static_cast<int64_t>(value) < 0;
  uint32_t base = base_of(c.letter);
  char digits[24];  // 22 octal digits
  uint32_t count = 0;
  for (uint64_t rest = negative ? 0 - value : value; rest != 0; rest /= base) {
    uint32_t digit = static_cast<uint32_t>(rest % base);
    digits[count++] =
        static_cast<char>(digit < 10 ? '0' + digit : (c.letter == 'X' ? 'A' : 'a') + digit - 10);
  }
  char prefix[2];
  uint32_t prefix_length = 0;
  if (negative || (is_signed && (c.plus || c.space)))
    prefix[prefix_length++] = negative ? '-' : c.plus ? '+' : ' ';
  // As in SystemTap, "#" puts its prefix before 0, too.
  if (c.letter == 'p' || (c.alternate && base == 16)) {
    prefix[prefix_length++] = '0';
    prefix[prefix_length++] = c.letter == 'X' ? 'X' : 'x';
  }
  uint32_t least = c.has_precision ? c.precision : 1;
  if (c.alternate && base == 8 && least <= count) least = count + 1;
  uint32_t zeros = least > count ? least - count : 0;
  uint32_t whole = prefix_length + zeros + count;
  uint32_t padding = c.width > whole ? c.width - whole : 0;
  if (c.zero && !c.left && !c.has_precision) {
    zeros += padding;
    padding = 0;
  }
  if (!c.left) out.fill(' ', padding);
  out.text(prefix, prefix_length);
  out.fill('0', zeros);
  while (count != 0) out.put(digits[--count]);
  if (c.left) out.fill(' ', padding);
}

void put_double(Out& out, const Conversion& c, uint64_t bits) {
  char text[kDoubleTextBytes];
  uint32_t length =
      double_text(text, bits, c.letter, c.has_precision ? c.precision : 6, c.alternate);
  const bool negative = bits >> 63 != 0, finite = (bits >> 52 & 0x7ff) != 0x7ff;
  const char sign = negative ? '-' : c.plus ? '+' : c.space ? ' ' : '\0';
  uint32_t whole = length + (sign != '\0');
  uint32_t padding = c.width > whole ? c.width - whole : 0;
  const bool zeros = c.zero && !c.left && finite;
  if (!c.left && !zeros) out.fill(' ', padding);
  if (sign != '\0') out.put(sign);
  if (zeros) out.fill('0', padding);
  out.text(text, length);
  if (c.left) out.fill(' ', padding);
}

bool is_double(char letter) {
  switch (letter | 0x20) {
    case 'e':
    case 'f':
    case 'g':
      return true;
    default:
      return false;
  }
}

// A '*' as an argument; negative widths mean flush left, negative precisions none.
void take_star(Conversion& c, bool precision, int64_t given) {
  bool negative = given < 0;
  if (negative) given = given == INT64_MIN ? INT64_MAX : -given;
  uint32_t bounded = given < kMaxWidth ? static_cast<uint32_t>(given) : kMaxWidth;
  if (precision) {
    c.has_precision = !negative;
    c.precision = bounded;
  } else {
    c.left |= negative;
    c.width = bounded;
  }
}

// %#c: what cannot be seen as C writes it.
void put_quoted(Out& out, const Conversion& c, unsigned char one) {
  constexpr char kNamed[] = "\aa\bb\ff\nn\rr\tt\vv''\\\\";
  char text[4] = {'\\', 0, 0, 0};
  for (uint32_t i = 0; i + 1 < sizeof(kNamed); i += 2) {
    if (static_cast<unsigned char>(kNamed[i]) != one) continue;
    text[1] = kNamed[i + 1];
    return put_padded(out, c, text, 2);
  }
  if (one >= ' ' && one < 0x7f) {
    text[0] = static_cast<char>(one);
    return put_padded(out, c, text, 1);
  }
  for (uint32_t i = 1; i < 4; ++i) text[i] = static_cast<char>('0' + (one >> (9 - 3 * i) & 7));
  put_padded(out, c, text, 4);
}

void put_argument(Out& out, const Conversion& c, const FormatArg& arg) {
  if (c.letter == 's') {
    uint32_t length = arg.text == nullptr ? 0 : arg.length;
    if (c.has_precision && c.precision < length) length = c.precision;
    put_padded(out, c, arg.text, length);
  } else if (c.letter == 'c' && c.alternate) {
    put_quoted(out, c, static_cast<unsigned char>(arg.number));
  } else if (c.letter == 'c') {
    char one = static_cast<char>(arg.number);
    put_padded(out, c, &one, 1);
  } else if (c.letter == 'b') {
    for (uint32_t i = 0; i < (c.width == 0 ? 8 : c.width) && i < 8; ++i)
      out.put(static_cast<char>(arg.number >> 8 * i));
  } else if (is_double(c.letter)) {
    put_double(out, c, arg.number);
  } else {
    put_number(out, c, arg.number);
  }
}

}  // namespace

uint32_t format_strings(const char* format, uint32_t format_length) {
  Parser parser{format, format_length};
  uint32_t mask = 0, next = 0;
  while (parser.at < format_length) {
    if (format[parser.at++] != '%') continue;
    Conversion c = parser.conversion();
    if (c.letter == '%' || c.letter == '\0') continue;
    next += c.width_star + c.precision_star;
    if (c.letter == 's' && next < 32) mask |= 1u << next;
    ++next;
  }
  return mask;
}

uint64_t format_text(char* at, uint64_t room, const char* format, uint32_t format_length,
                     const FormatArg* args, uint32_t count) {
  Out out{at, room};
  Parser parser{format, format_length};
  uint32_t next = 0;
  while (parser.at < format_length) {
    char c = format[parser.at++];
    if (c != '%') {
      out.put(c);
      continue;
    }
    Conversion conversion = parser.conversion();
    if (conversion.letter == '%') out.put('%');
    if (conversion.letter == '%' || conversion.letter == '\0') continue;
    uint32_t wanted = 1u + conversion.width_star + conversion.precision_star;
    if (next + wanted > count) break;
    if (conversion.width_star)
      take_star(conversion, false, static_cast<int64_t>(args[next++].number));
    if (conversion.precision_star)
      take_star(conversion, true, static_cast<int64_t>(args[next++].number));
    put_argument(out, conversion, args[next++]);
  }
  return out.length;
}

}  // namespace dj::abi
