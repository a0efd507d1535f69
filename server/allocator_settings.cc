// How jemalloc returns memory to the system; it reads this when the program starts (jemalloc(3),
// TUNING). By default it keeps unused pages until more memory is allocated, which an idle server
// never does. With this it returns them after about a second, at the same processor time
// (docs/benchmarks.md). One thread does this: if the system permits no second one, jemalloc would
// try and print an error again and again.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf =
    "background_thread:true,max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0";
}
