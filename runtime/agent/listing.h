// SPDX-License-Identifier: Apache-2.0
// Listing is text about the stack that grows in scratch memory. It leaves out by whole lines what
// does not fit.
#pragma once
#include "runtime/agent/scratch.h"

namespace dj {

class Listing {
 public:
  explicit Listing(abi::Context* ctx) : ctx_(ctx), made_(agent::long_string_room(ctx, &room_)) {}

  void put(const abi::Str* more) {
    const abi::Text text = abi::text_of(more);
    for (uint32_t i = 0; i < text.len; ++i) put(text.data[i]);
  }
  void put(const char* text) {
    for (; *text != '\0'; ++text) put(*text);
  }
  void put(char c) {
    if (used_ < room_) made_->data[used_] = c;
    ++used_;
  }
  void put_hex(uint64_t value) {
    put("0x");
    int shift = 60;
    while (shift > 0 && value >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
  }
  void put_decimal(uint64_t value) {
    if (value >= 10) put_decimal(value / 10);
    put(static_cast<char>('0' + value % 10));
  }
  // What was put since the last call stays, if it fits.
  void end_item() {
    if (used_ <= room_) {
      kept_ = used_;
    } else {
      used_ = kept_;
      cut_ = true;
    }
  }
  // Something has been left out: for want of room.
  bool is_cut() const { return cut_; }
  const abi::Str* finish() {
    if (cut_) agent::count_skip(abi::kSkipStringCut);
    if (kept_ == 0) return agent::empty_string();
    made_->len = kept_;
    return agent::keep_string(ctx_, made_);
  }

 private:
  abi::Context* ctx_;
  uint32_t room_ = 0;  // before made_: long_string_room() sets it
  abi::Str* made_;
  uint32_t used_ = 0, kept_ = 0;
  bool cut_ = false;
};

}  // namespace dj
