// SPDX-License-Identifier: Apache-2.0
// emit: verify, optimise, print.
#include "compiler/lower/emit.h"

#include <llvm/Analysis/InlineCost.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/Inliner.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <memory>

#include "compiler/lower/llvm_versions.h"

namespace dj::ir {
namespace {

Status emit_file(Backend& backend, llvm::Module& module, llvm::raw_pwrite_stream& out,
                 llvm::CodeGenFileType type, Effort effort) {
  DJ_TRY(const Backend::Lent machine, backend.lend());
  machine->setOptLevel(effort == Effort::Small ? llvm::CodeGenOptLevel::None
                                               : llvm::CodeGenOptLevel::Default);
  machine->setFastISel(effort == Effort::Small);  // what None once sets would stay
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, type))
    return Error{"LLVM emits no object files"};
  passes.run(module);
  return ok_status();
}

// The larger an agent function that a handler has within it, the cheaper is a hit and the dearer
// the start: an array's update is 4 ns less, and 3 ms more.
int inliner_threshold(size_t handlers) {
  constexpr size_t kFew = 4, kMany = 20;
  constexpr int kSmall = 50;  // counters and contexts, but no arrays and events
  constexpr int kMedium = 225, kLarge = 1000;
  if (handlers <= kFew) return kLarge;
  return handlers <= kMany ? kMedium : kSmall;
}

// optimise()'s passes, in the words of opt(1): the part of -O2 that makes a difference to handlers,
// which have few loops and call what was optimised once (docs/design.md). In these words
// instcombine ends the process where one pass leaves something to do, as many a loop's does, unless
// told not to. A function whose callers all give it the same array is made for that array.
constexpr const char* kBeforeInlining =
    "require<profile-summary>,function(sroa<modify-cfg>,early-cse<>,simplifycfg),ipsccp,"
    "deadargelim,function(fold-arena,instcombine<no-verify-fixpoint>,simplifycfg)";
// Of each function, before the inliner asks what it costs.
constexpr const char* kAroundInlining =
    "sroa<modify-cfg>,early-cse<>,instcombine<no-verify-fixpoint>,fold-arena,simplifycfg";
// Without `sccp` an update of an array takes 0.7 ns more.
constexpr const char* kBehindInlining =
    "globaldce,function(sroa<modify-cfg>,early-cse<memssa>,jump-threading,simplifycfg,"
    "instcombine<no-verify-fixpoint>,fold-arena,simplifycfg,gvn,sccp,"
    "instcombine<no-verify-fixpoint>,adce,"
    "simplifycfg<hoist-common-insts;sink-common-insts;switch-range-to-icmp>,"
    "lower-constant-intrinsics,simplifycfg,instcombine<no-verify-fixpoint>)";

// All of it for Effort::Small.
constexpr const char* kSmallEffort = "function(sroa<modify-cfg>,early-cse<>,simplifycfg)";

template <class Passes>
void add_passes(llvm::PassBuilder& builder, Passes& passes, const char* text) {
  llvm::Error error = builder.parsePassPipeline(passes, text);
  CHECK(!error);
}

llvm::ModulePassManager pipeline(llvm::PassBuilder& builder, const FixedBytes& fixed,
                                 size_t handlers) {
  builder.registerPipelineParsingCallback(
      [&fixed](llvm::StringRef name, llvm::FunctionPassManager& passes,
               llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name == "fold-arena") passes.addPass(FoldArena(fixed));
        return name == "fold-arena";
      });
  llvm::ModulePassManager passes;
  if (effort_for(handlers) == Effort::Small) {
    add_passes(builder, passes, kSmallEffort);
    return passes;
  }
  llvm::FunctionPassManager around;
  add_passes(builder, around, kAroundInlining);
  llvm::ModuleInlinerWrapperPass inliner(llvm::getInlineParams(inliner_threshold(handlers)));
  inliner.getPM().addPass(llvm::createCGSCCToFunctionPassAdaptor(std::move(around)));
  add_passes(builder, passes, kBeforeInlining);
  passes.addPass(std::move(inliner));
  add_passes(builder, passes, kBehindInlining);
  return passes;
}

}  // namespace

Effort effort_for(size_t handlers) {
  constexpr size_t kVeryMany = 1000;
  return handlers > kVeryMany ? Effort::Small : Effort::Usual;
}

Status prepare(Backend& backend, llvm::Module& module) {
  DJ_TRY(const llvm::TargetMachine* machine, backend.look());
  module.setTargetTriple(TripleWord(Backend::kTriple));
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
  module.setPIELevel(llvm::PIELevel::Small);
  return ok_status();
}

Status optimise(Backend& backend, llvm::Module& module, const FixedBytes& fixed, size_t handlers) {
  std::string broken;
  llvm::raw_string_ostream complaint(broken);
  if (llvm::verifyModule(module, &complaint)) return Error{"bug: bad LLVM code: " + broken};
  DJ_TRY(const Backend::Lent machine, backend.lend());
  llvm::PassBuilder builder(machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  pipeline(builder, fixed, handlers).run(module, modules);
  return ok_status();
}

std::string object_key(const llvm::Module& module, const FixedBytes& fixed, size_t handlers,
                       uint64_t arena_base, bool has_rseq) {
  std::string key;
  llvm::raw_string_ostream out(key);
  out << handlers << ' ' << arena_base << ' ' << has_rseq << '\n';
  for (const auto& [address, bytes] : fixed) {
    out << address << ' ' << bytes.size() << ' ';
    out.write(bytes.data(), bytes.size());
  }
  llvm::WriteBitcodeToFile(module, out);
  return key;
}

void warm_up(Backend& backend) {
  llvm::LLVMContext context;
  llvm::Module module("first", context);
  if (!prepare(backend, module).ok()) return;  // lower() will say why
  auto* word = llvm::Type::getInt64Ty(context);
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(word, {word}, false),
                             llvm::GlobalValue::ExternalLinkage, "dj_handler_0", module);
  llvm::IRBuilder<> code(llvm::BasicBlock::Create(context, "", function));
  code.CreateRet(code.CreateAdd(function->getArg(0), code.getInt64(1)));
  // With the agent's attributes: LLVM describes the processor once for each set of them.
  if (link_hot_agent(module, 0, true, Effort::Usual).ok() && optimise(backend, module, {}, 1).ok())
    static_cast<void>(emit_object(backend, module, Effort::Usual));
}

Result<std::vector<uint8_t>> emit_object(Backend& backend, llvm::Module& module, Effort effort) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  DJ_TRY_DO(emit_file(backend, module, out, llvm::CodeGenFileType::ObjectFile, effort));
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

Result<std::string> emit_assembly(Backend& backend, const llvm::Module& module, Effort effort) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);  // code generation changes it
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  DJ_TRY_DO(emit_file(backend, *copy, out, llvm::CodeGenFileType::AssemblyFile, effort));
  return std::string(text);
}

std::string ir_text(const llvm::Module& module) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  std::string text;
  llvm::raw_string_ostream out(text);
  for (llvm::Function& function : *copy) {
    if (function.isDeclaration()) continue;
    function.setAttributes({});
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        instruction.dropUnknownNonDebugMetadata();
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setAttributes({});
      }
    }
    function.print(out);
    out << '\n';
  }
  return text;
}

}  // namespace dj::ir
