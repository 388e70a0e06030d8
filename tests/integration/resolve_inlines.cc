// SPDX-License-Identifier: LGPL-2.1-or-later
// C++ with many small functions that the compiler inlines into few.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop
{
struct item {
	std::string name;
	double price;
	int count;
	double total() const
	{
		return price * count;
	}
};

template <typename T> struct summed {
	T sum{};
	void add(const T &v)
	{
		sum += v;
	}
};

class basket
{
	std::vector<item> items_;
	std::unordered_map<std::string, int> counts_;

      public:
	void put(const std::string &name, double price)
	{
		items_.push_back({ name, price, 1 });
		counts_[name]++;
	}
	double total() const
	{
		summed<double> s;
		for (const auto &i : items_)
			s.add(i.total());
		return s.sum;
	}
	void sort()
	{
		std::sort(items_.begin(), items_.end(), [](const item &a, const item &b) {
			return a.price < b.price || (a.price == b.price && a.name < b.name);
		});
	}
	int distinct() const
	{
		std::map<std::string, double> m;
		for (const auto &i : items_)
			m[i.name] += i.total();
		return static_cast<int>(m.size());
	}
};
} // namespace shop

__attribute__((noinline)) static double fill(shop::basket &b, unsigned seed)
{
	for (unsigned i = 0; i < 400; i++) {
		seed = seed * 1664525 + 1013904223;
		b.put("thing number " + std::to_string(seed % 97), (seed >> 8) % 1000 / 10.0);
	}
	return b.total();
}

int main()
{
	double sum = 0;

	for (unsigned i = 0; i < 6000; i++) {
		shop::basket b;
		sum += fill(b, i);
		b.sort();
		sum += b.total() + b.distinct();
	}
	return sum < 0;
}
