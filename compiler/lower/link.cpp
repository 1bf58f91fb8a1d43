// SPDX-License-Identifier: Apache-2.0
// link(): handlers' object and agent's object, which need each other's symbols, to code at a given
// address. Both are placed first, then each gets the addresses of the other: JITLink asks for
// outside symbols after it has placed an object and waits for the answer.
#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>

#include <memory>

#include "compiler/lower/agent_blob.h"
#include "compiler/lower/area_memory.h"
#include "compiler/lower/code_moves.h"
#include "compiler/lower/llvm_versions.h"
#include "compiler/stages/image.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

namespace jitlink = llvm::jitlink;

// One link() run: what both halves share.
struct Session {
  ir::AreaMemory memory;
  ir::LinkNames names;  // outlives what links
  std::map<std::string, uint64_t> symbols;
  ir::CodeMoves moves;
  std::string failure;  // the first one
  void fail(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (failure.empty()) failure = text;
  }
};

// One object on its way; `pending` waits for the addresses of `wanted`.
struct Half {
  std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> pending;
  std::vector<ir::LinkName> wanted;
};

class Context : public jitlink::JITLinkContext {
 public:
  Context(Session& session, Half& half) : JITLinkContext(nullptr), session_(session), half_(half) {}
  jitlink::JITLinkMemoryManager& getMemoryManager() override { return session_.memory; }
  void notifyFailed(llvm::Error error) override { session_.fail(std::move(error)); }
  llvm::Error modifyPassConfig(jitlink::LinkGraph&, jitlink::PassConfiguration& config) override {
    config.PostFixupPasses.push_back([this](jitlink::LinkGraph& graph) {
      session_.moves.add(graph);
      return llvm::Error::success();
    });
    return llvm::Error::success();
  }
  void lookup(const LookupMap& symbols,
              std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> pending) override {
    for (const auto& symbol : symbols) half_.wanted.push_back(symbol.first);
    half_.pending = std::move(pending);
  }
  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getScope() == jitlink::Scope::Local) continue;
      session_.symbols[ir::text_of(symbol->getName())] = symbol->getAddress().getValue();
    }
    return llvm::Error::success();
  }
  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc alloc) override {
    alloc.release();
  }

 private:
  Session& session_;
  Half& half_;
};

void place(Session& session, Half& half, std::string_view object, const char* name) {
  llvm::MemoryBufferRef buffer({object.data(), object.size()}, name);
  auto graph = ir::link_graph_of(buffer, session.names);
  if (!graph) return session.fail(graph.takeError());
  jitlink::link_ELF(std::move(*graph), std::make_unique<Context>(session, half));
}

void resolve(Session& session, Half& half) {
  if (!half.pending) return;
  jitlink::AsyncLookupResult found;
  for (const ir::LinkName& wanted : half.wanted) {
    const std::string name = ir::text_of(wanted);
    auto symbol = session.symbols.find(name);
    if (symbol == session.symbols.end()) {
      half.pending->run(llvm::make_error<llvm::StringError>(
          "undefined in handlers and agent: " + name, llvm::inconvertibleErrorCode()));
      return;
    }
    found[wanted] = {llvm::orc::ExecutorAddr(symbol->second), llvm::JITSymbolFlags::Exported};
  }
  half.pending->run(std::move(found));
}

// Symbols that stand for numbers, not for what the objects hold.
std::map<std::string, uint64_t> numbers_of(const AgentPlaces& places) {
  return {{"dj_rseq", static_cast<uint64_t>(places.rseq_offset)},
          {"dj_stack_block", static_cast<uint64_t>(places.stack_block)},
          {"dj_own_stacks", places.own_stacks},
          {"dj_own_stack_words", places.threads + offsetof(abi::ThreadTable, own_stacks)},
          {"dj_denied_calls", places.threads + offsetof(abi::ThreadTable, denied)}};
}

std::string_view view(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<Linked> link(const Image& image, uint64_t base, std::span<uint8_t> working,
                    const AgentPlaces& places) {
  const std::map<std::string, uint64_t> numbers = numbers_of(places);
  Session session{
      ir::AreaMemory(base, working), {}, numbers, ir::CodeMoves(base, working.size()), {}};
  Half agent, handlers;
  place(session, agent, agent_object(), "agent");
  if (session.failure.empty()) place(session, handlers, view(image.object), "handlers");
  // From here on, every symbol has its address.
  if (session.failure.empty()) resolve(session, agent);
  if (session.failure.empty()) resolve(session, handlers);
  if (!session.failure.empty()) return Error{"cannot link the handlers: " + session.failure};
  for (const auto& [name, number] : numbers) session.symbols.erase(name);
  Linked linked{std::move(session.symbols), session.memory.used(), {}, session.moves.take()};
  for (auto& symbols = linked.symbols;;) {
    const auto next = symbols.find("dj_handler_" + std::to_string(linked.handlers.size()));
    if (next == symbols.end()) return linked;
    linked.handlers.push_back(next->second);
  }
}

uint64_t link_bytes(const Image& image) {
  uint64_t bytes = ir::object_bytes_max(view(image.object)) + ir::object_bytes_max(agent_object());
  return (bytes + 4095) & ~4095ull;
}

Result<Linked> link_host(const Image& image) {
  uint64_t bytes = link_bytes(image);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Error{"no memory for djtap's own handlers"};
  Result<Linked> linked =
      link(image, reinterpret_cast<uint64_t>(memory), {static_cast<uint8_t*>(memory), bytes},
           {.rseq_offset = __rseq_offset});
  if (!linked.ok()) {
    munmap(memory, bytes);
    return linked;
  }
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) != 0) {
    return Error{"djtap's own handlers cannot be made executable", Fail::Permission};
  }
  return linked;
}

}  // namespace dj
