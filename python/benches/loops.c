/* Loops by hand that the figures of the Python package are measured against.
 *
 * figures.py compiles this with cc -O3 -march=native -fopenmp, and calls it with as many threads as
 * there are ranks. Buffers of results are given and warm; arrays are row-major doubles.
 */

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

void use_threads(int count) { omp_set_num_threads(count); }

/* sum(a * b + c * 2) */
double sum_of_products(const double *a, const double *b, const double *c, long n)
{
    double total = 0.0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
    for (long i = 0; i < n; i++)
        total += a[i] * b[i] + c[i] * 2.0;
    return total;
}

/* The inner points of v are the means of the neighbours of those of u; its edges stay. */
void jacobi(const double *restrict u, double *restrict v, long rows, long columns)
{
#pragma omp parallel for schedule(static)
    for (long i = 1; i < rows - 1; i++) {
        const double *above = u + (i - 1) * columns, *here = u + i * columns, *below = u + (i + 1) * columns;
        double *out = v + i * columns;
#pragma omp simd
        for (long j = 1; j < columns - 1; j++)
            out[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
    }
}

/* Mean and standard deviation of 16 columns: two passes, because one would lose digits. */
#define COLUMNS 16

void mean_and_std(const double *restrict x, long rows, double *mean, double *deviation)
{
    double sum[COLUMNS] = {0}, square[COLUMNS] = {0};
#pragma omp parallel for reduction(+ : sum[:COLUMNS]) schedule(static)
    for (long i = 0; i < rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += x[i * COLUMNS + j];
    for (int j = 0; j < COLUMNS; j++)
        mean[j] = sum[j] / rows;
#pragma omp parallel for reduction(+ : square[:COLUMNS]) schedule(static)
    for (long i = 0; i < rows; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double away = x[i * COLUMNS + j] - mean[j];
            square[j] += away * away;
        }
    for (int j = 0; j < COLUMNS; j++)
        deviation[j] = sqrt(square[j] / rows);
}

/* (x - mean) / deviation */
void standardise(const double *restrict x, double *restrict out, long rows)
{
    double mean[COLUMNS], deviation[COLUMNS];
    mean_and_std(x, rows, mean, deviation);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            out[i * COLUMNS + j] = (x[i * COLUMNS + j] - mean[j]) / deviation[j];
}

/* What a redistribution can be at best: every byte copied once. */
void copy(const double *restrict from, double *restrict to, long n)
{
#pragma omp parallel
    {
        long parts = omp_get_num_threads(), part = omp_get_thread_num();
        long begin = n * part / parts, end = n * (part + 1) / parts;
        memcpy(to + begin, from + begin, (end - begin) * sizeof(double));
    }
}

/* One step of k-means: K centres of points in D dimensions. */
#define K 8
#define D 4

void kmeans(const double *restrict points, long n, const double *restrict old, double *restrict new)
{
    double sum[K * D] = {0}, count[K] = {0};
#pragma omp parallel for reduction(+ : sum[:K * D], count[:K]) schedule(static)
    for (long i = 0; i < n; i++) {
        const double *point = points + i * D;
        int nearest = 0;
        double least = INFINITY;
        for (int k = 0; k < K; k++) {
            double distance = 0.0;
            for (int d = 0; d < D; d++) {
                double away = point[d] - old[k * D + d];
                distance += away * away;
            }
            if (distance < least) {
                least = distance;
                nearest = k;
            }
        }
        for (int d = 0; d < D; d++)
            sum[nearest * D + d] += point[d];
        count[nearest] += 1.0;
    }
    for (int k = 0; k < K; k++)
        for (int d = 0; d < D; d++)
            new[k * D + d] = sum[k * D + d] / count[k];
}

/* Blocks that fit into the first cache, so that a line is used as a whole on both sides. */
void transpose(const double *restrict from, double *restrict to, long rows, long columns)
{
    enum { BLOCK = 32 };
#pragma omp parallel for collapse(2) schedule(static)
    for (long top = 0; top < rows; top += BLOCK)
        for (long left = 0; left < columns; left += BLOCK) {
            long bottom = top + BLOCK < rows ? top + BLOCK : rows;
            long right = left + BLOCK < columns ? left + BLOCK : columns;
            for (long j = left; j < right; j++)
                for (long i = top; i < bottom; i++)
                    to[j * rows + i] = from[i * columns + j];
        }
}

/* a + 1, on one thread: starting others takes longer. */
void add_one(const double *restrict a, double *restrict out, long n)
{
    for (long i = 0; i < n; i++)
        out[i] = a[i] + 1.0;
}
