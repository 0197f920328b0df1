/*
 * trap_workload_long - something for a compiler to compile, without headers.
 */
struct list {
	struct list *next;
	int value;
};

int sum(const struct list *list);
int steps(unsigned long n);

int sum(const struct list *list)
{
	int total = 0;

	for (; list; list = list->next)
		total += list->value;
	return total;
}

int steps(unsigned long n)
{
	int count = 0;

	for (; n != 1; count++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return count;
}
