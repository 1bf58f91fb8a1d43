// SPDX-License-Identifier: Apache-2.0
// An object's key: what lower() says, and who has compiled it.
#include "runtime/run/handler_cache.h"

#include "runtime/run/lowering.h"

namespace dj {
namespace {

struct File {
  std::string name, key;
};

File file_for(const std::string& key) {
  const std::string whole = file_identity(lowering_path()) + '\n' + key;
  return {"handlers-" + short_name(whole), whole};
}

}  // namespace

ObjectCache handler_cache(ModuleCodes& codes) {
  return {[&codes](const std::string& key) -> std::vector<uint8_t> {
            const File file = file_for(key);
            if (const std::string* bytes = codes.cached_by_now(file.name, file.key))
              return {bytes->begin(), bytes->end()};
            const std::optional<CachedBytes> kept = codes.file_cache().load(file.name, file.key);
            if (!kept) return {};
            return {kept->bytes.begin(), kept->bytes.end()};
          },
          [&codes](const std::string& key, const std::vector<uint8_t>& object) {
            File file = file_for(key);
            codes.keep(std::move(file.name), std::move(file.key), {object.begin(), object.end()});
          }};
}

}  // namespace dj
