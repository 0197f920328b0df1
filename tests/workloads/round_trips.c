/*
 * round_trips - sets every signal's action and mask at random and reads them back; prints what
 * was read.  Nothing is sent.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t draw(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 32 | (state * 0x9e3779b97f4a7c15ULL) << 32;
}

static sigset_t draw_set(void)
{
	const uint64_t bits = draw();
	sigset_t set;

	sigemptyset(&set);
	memcpy(&set, &bits, sizeof bits);
	return set;
}

static unsigned long long bits_of(const sigset_t *set)
{
	unsigned long long bits;

	memcpy(&bits, set, sizeof bits);
	return bits;
}

static void handle(int signal)
{
	(void)signal;
}

static void set_mask(void)
{
	const sigset_t set = draw_set();
	sigset_t old;

	sigprocmask((int)(draw() % 3), &set, &old);
	printf("mask %llx\n", bits_of(&old));
}

int main(void)
{
	for (int round = 0; round < 200; round++) {
		for (int number = 1; number <= 64; number++) {
			struct sigaction action = {
				.sa_handler = draw() % 3   ? handle
					      : draw() % 2 ? SIG_IGN
							   : SIG_DFL,
				.sa_flags = (int)(uint32_t)draw() & ~0x04000000,
				.sa_mask = draw_set(),
			};
			struct sigaction old = { 0 };
			const int rc = sigaction(number, &action, &old);

			if (draw() % 4 == 0)
				set_mask();
			printf("%d: %d %s %x %llx\n", number, rc,
			       old.sa_handler == handle    ? "handler"
			       : old.sa_handler == SIG_IGN ? "ignored"
							   : "default",
			       (unsigned)old.sa_flags, bits_of(&old.sa_mask));
		}
	}
	return 0;
}
