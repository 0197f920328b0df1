/* named - ends with 0 if the library's mcount() is the library's. */
int count(int messages);

int main(void)
{
	return count(41) != 42;
}
