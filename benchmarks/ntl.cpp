// The peer for benchmarks/binary_field.py: NTL's interpolation and evaluation over the same field.
// Built and run by that benchmark where NTL's headers are installed (Debian: libntl-dev).
#include <NTL/GF2EX.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <vector>

static double median_seconds(int rounds, const std::function<void()> &run) {
    std::vector<double> times;
    for (int i = 0; i < rounds; i++) {
        auto start = std::chrono::steady_clock::now();
        run();
        times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

int main(int argc, char **argv) {
    long level = std::atol(argv[1]), n = std::atol(argv[2]), k = 1;
    for (long i = 0; i < level; i++) k *= 3;
    NTL::GF2X modulus;
    for (long exponent : {2 * k, k, 0L}) NTL::SetCoeff(modulus, exponent);
    NTL::GF2E::init(modulus);
    NTL::vec_GF2E points, values;
    for (long i = 0; i < n; i++) {
        NTL::append(points, NTL::random_GF2E());
        NTL::append(values, NTL::random_GF2E());
    }
    NTL::GF2EX polynomial;
    NTL::GF2E value;
    double interpolation = median_seconds(3, [&] { NTL::interpolate(polynomial, points, values); });
    double horner = median_seconds(51, [&] { NTL::eval(value, polynomial, points[0]); });
    std::cout << interpolation << " " << horner << std::endl;
}
