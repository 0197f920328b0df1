/*
 * exec_chain - one process runs five images, one after the other, each computing for a
 * fifth of the time: exec_chain [MS].
 */
#include "truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGES 5

static volatile uint64_t sink;

KEEP static uint64_t work_of_an_image(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void go_on(char **argv, uint64_t image, uint64_t part_ns, uint64_t spent_ns)
{
	char image_text[32], part_text[32], spent_text[32];
	char *next[] = { argv[0], "image", image_text, part_text, spent_text, NULL };

	snprintf(image_text, sizeof image_text, "%" PRIu64, image);
	snprintf(part_text, sizeof part_text, "%" PRIu64, part_ns);
	snprintf(spent_text, sizeof spent_text, "%" PRIu64, spent_ns);
	execv("/proc/self/exe", next);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 5 || strcmp(argv[1], "image") != 0)
		go_on(argv, 1, truth_budget_ns(argc, argv, 1500) / IMAGES, 0);
	uint64_t image = strtoull(argv[2], NULL, 10), part = strtoull(argv[3], NULL, 10);
	uint64_t spent = strtoull(argv[4], NULL, 10);
	uint64_t begin = truth_thread_cpu_ns(), now = begin;

	for (uint64_t turn = 0; now - begin < part; turn++) {
		sink = work_of_an_image(truth_vary(turn, 200000, 300000));
		now = truth_thread_cpu_ns();
	}
	spent += now - begin;
	if (image < IMAGES)
		go_on(argv, image + 1, part, spent);
	truth_add(TRUTH_SELF, "work_of_an_image", spent);
	truth_print();
	return 0;
}
