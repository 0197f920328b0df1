/* linked - calls a library that it is linked with. */
int library_entry(int i);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += library_entry(i) & 1;
	return sum != 500;
}
