// Memory of djtap's own process in huge pages, where the system has them to give.
#pragma once
namespace dj {

// The heap's next 64 MB. Call first, before there are threads.
void begin_huge_heap();

}  // namespace dj
