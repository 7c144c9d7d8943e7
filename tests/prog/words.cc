// SPDX-License-Identifier: Apache-2.0
// words: threads sort strings into maps of their own, meet, and merge them.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::map<std::string, std::vector<unsigned>> all;
static std::mutex lock;

static void
count(unsigned seed)
{
	std::map<std::string, std::vector<unsigned>> mine;

	for (unsigned i = 0; i < 20000; i++) {
		unsigned n = (i * 2654435761u + seed) % 5000;

		mine["a word that is too long for no block: "
		    + std::to_string(n)].push_back(i);
	}
	std::lock_guard<std::mutex> held(lock);
	for (auto &entry : mine)
		all[entry.first].push_back((unsigned)entry.second.size());
}

int
main()
{
	std::vector<std::thread> threads;
	size_t sum = 0;

	for (unsigned i = 0; i < 4; i++)
		threads.emplace_back(count, i * 1237);
	for (auto &thread : threads)
		thread.join();
	for (auto &entry : all)
		for (unsigned n : entry.second)
			sum += n;
	std::printf("%zu words, %zu times\n", all.size(), sum);
}
