// How jemalloc returns memory to the system; it reads this when the program starts (jemalloc(3),
// TUNING). By default it keeps unused pages until more memory is allocated, which an idle server
// never does. With this, rewriting 60,000 recency lists ten times leaves 24 MB resident instead of
// 39, at the same processor time.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}
