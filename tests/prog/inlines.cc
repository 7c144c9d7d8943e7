// SPDX-License-Identifier: Apache-2.0
// Functions of internal linkage, each with a block of a size of its own, that
// are inlined or not as MODE says; what there is that is not to be called
// otherwise for it.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#ifndef MODE
#define MODE always_inline
#endif
#define IN __attribute__((MODE))
void *keep[100];
int kept;
#define PLANT(size) do { keep[kept++] = std::malloc(size); \
	__asm__ volatile("" : : : "memory"); } while (0)

enum Color { RED, BLUE };
typedef unsigned int word;

IN static inline void plain(int) { PLANT(1001); }
IN static inline void numbers(unsigned long, long long, short, unsigned char,
    bool, word, std::nullptr_t, long double, wchar_t, __int128, ...)
{ PLANT(1002); }
IN static inline void pointers(const char *, int *const, int &, int &&,
    const volatile void *, char **, int (*)(int, char), int (&)[3], Color)
{ PLANT(1003); }
IN static inline void libraries(const std::string &, std::vector<int>,
    std::pair<const char *, long> *)
{ PLANT(1004); }
namespace outer {
namespace {
struct Cache {
	struct Inner {
		IN void fill(int) const { PLANT(1005); }
		IN static void all(const Cache &) { PLANT(1006); }
	};
	IN Cache(int) { PLANT(1007); }
	IN Cache(const char *) { PLANT(1008); }
	IN ~Cache() { PLANT(1009); }
	IN void of_value() && { PLANT(1010); }
	IN void of_place() & { PLANT(1011); }
	IN void of_volatile() volatile { PLANT(1012); }
	IN Cache &operator<<(int) { PLANT(1013); return *this; }
	IN bool operator<(const Cache &) const { PLANT(1014); return true; }
	IN int operator()(int) { PLANT(1015); return 1; }
	IN operator const char *() const { PLANT(1016); return ""; }
	IN Cache *operator->() { PLANT(1017); return this; }
};
template <class T, int N> struct Table {
	IN void put(T) { PLANT(1018); }
	template <class U> IN U as(U u, T) { PLANT(1019); return u; }
};
template <class T> IN void of_type(T) { PLANT(1020); }
template <unsigned long N, Color C, char X, bool B>
IN void of_values() { PLANT(1021); }
template <class... T> IN void of_many(T...) { PLANT(1022); }
}
inline namespace v1 {
IN static inline int versioned(Color) { PLANT(1023); return 0; }
}
}
IN static inline void members(int outer::Cache::*,
    bool (outer::Cache::*)(const outer::Cache &) const) { PLANT(1024); }
static inline void local(int)
{
	struct Local {
		IN void go(int) { PLANT(1025); }
	};
	Local().go(1);
}

int
main()
{
	int x = 0, three[3];

	plain(1);
	numbers(1, 2, 3, 4, true, 5, nullptr, 6, 7, 8, 9);
	pointers("", &x, x, 3, &x, nullptr, nullptr, three, RED);
	libraries("", {}, nullptr);
	outer::Cache c(1), d("");
	outer::Cache::Inner().fill(1);
	outer::Cache::Inner::all(c);
	std::move(c).of_value();
	c.of_place();
	c.of_volatile();
	c << 1;
	(void)(c < c);
	c(1);
	(void)(const char *)c;
	(void)c.operator->();
	outer::Table<int, 5>().put(1);
	outer::Table<const char *, 5>().as(3ul, "");
	outer::of_type(std::vector<unsigned long>());
	outer::of_values<7, BLUE, 'a', true>();
	outer::of_many(1, 'c', 2.0);
	outer::versioned(RED);
	members(nullptr, nullptr);
	local(1);
	auto lambda = [](int) IN { PLANT(1030); };
	auto other = [&x](int, const char *) IN { PLANT(1031); };
	lambda(1);
	other(1, "");
	return 0;
}
