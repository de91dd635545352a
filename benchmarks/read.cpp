// How fast can one thread read an array? Every byte is loaded into a vector register once and
// xor-ed into a sum that the caller reads; nothing else is done.
#include <cstddef>
#include <cstdint>
#include <cstring>

typedef uint64_t Vec __attribute__((vector_size(32)));

// Several streams keep more memory banks and prefetchers busy than one.
template <int Streams>
static uint64_t read(const char* p, size_t bytes) {
    constexpr size_t kBlock = 256;
    Vec sums[8] = {};
    const size_t part = bytes / Streams / kBlock * kBlock;
    for (size_t k = 0; k < part; k += kBlock)
        for (int s = 0; s < Streams; ++s)
            for (int i = 0; i < 8; ++i) {
                Vec v;
                std::memcpy(&v, p + s * part + k + i * sizeof v, sizeof v);
                sums[i] ^= v;
            }
    Vec all{};
    for (const Vec& v : sums) all ^= v;
    return all[0] ^ all[1] ^ all[2] ^ all[3];
}

extern "C" uint64_t read_one_stream(const char* p, size_t bytes) { return read<1>(p, bytes); }
extern "C" uint64_t read_four_streams(const char* p, size_t bytes) { return read<4>(p, bytes); }
