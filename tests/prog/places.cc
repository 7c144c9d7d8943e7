// SPDX-License-Identifier: Apache-2.0
// Places in C++: members, templates, what is inlined.
#include "places.h"

#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))

namespace planted {

template <typename T> struct Box {
	T kept;

	NOINLINE void put(T value)
	{
		static const char put[] = "planted::Box<%s>::put(%s) "
		    "places.cc:%d";

		kept = value;
		PLACE(put, name(), name(), __LINE__);
	}

	INLINE void add(T value, int line)
	{
		static const char add[] = "planted::Box<%s>::add(%s, int) "
		    "places.cc:%d < planted::caller() places.cc:%d";

		kept += value;
		PLACE(add, name(), name(), __LINE__, line);
	}

	static const char *name() { return sizeof(T) == 1 ? "char" : "int"; }
};

struct Base {
	virtual ~Base() {}
	virtual void grow() = 0;
};

struct Leaf : Base {
	void grow() override;
};

NOINLINE void
Leaf::grow()
{
	PLACE("planted::Leaf::grow() places.cc:%d", __LINE__);
}

NOINLINE static void
caller()
{
	Box<int> ints{};
	Box<char> chars{};

	ints.put(1);
	chars.put('1');
	ints.add(2, __LINE__);
}

}

namespace {

NOINLINE int
hidden(int n)
{
	static const char hidden[] = "(anonymous namespace)::hidden(int) "
	    "places.cc:%d";

	PLACE(hidden, __LINE__);
	return n;
}

}

int
main()
{
	planted::Leaf leaf;
	planted::Base *base = &leaf;

	planted::caller();
	base->grow();
	return hidden(0);
}
