/*
 * kube/time.c - times of Kubernetes and of HTTP. Pure.
 *
 * Dates are counted in days of the Gregorian calendar without end in both directions, by eras of
 * 400 years that begin on a 1st of March, so that the leap day is the last of its year.
 */
#include "time.h"

#include <string.h>

#include "ascii.h"
#include "obj.h"

enum {
	DAYS_PER_ERA   = 146097,	/* 400 years */
	DAYS_TO_1970   = 719468,	/* from 0000-03-01 */
	US_PER_SECOND  = 1000000,
	SECONDS_PER_DAY = 86400,
};

struct date {
	int	year, month, day, hour, minute, second, micro;
};

/* What is left to read. */
struct time_text {
	const char	*at, *end;
};

static bool parse(const char *, size_t, bool, int64_t *);
static bool read_date(struct time_text *, struct date *);
static bool read_clock(struct time_text *, bool, struct date *);
static bool read_zone(struct time_text *, int64_t *);
static bool read_number(struct time_text *, int, int *);
static bool read_byte(struct time_text *, char);
static bool read_name(struct time_text *, const char *, int *);
static bool skip_text(struct time_text *, const char *);
static bool is_digit(const struct time_text *, size_t);
static bool finish(const struct time_text *, const struct date *, int64_t, int64_t *);
static bool in_calendar(const struct date *);
static int days_in(int, int);
static int64_t days_from_date(const struct date *);
static struct date date_from_us(int64_t);
static size_t print_seconds(const struct date *, char *);
static size_t print_number(char *, int64_t, int);

bool
time_parse(const char *text, size_t len, int64_t *us)
{
	return parse(text, len, false, us);
}

bool
time_parse_micro(const char *text, size_t len, int64_t *us)
{
	return parse(text, len, true, us);
}

bool
time_parse_http(const char *text, size_t len, int64_t *us)
{
	struct time_text t = { text, text + len };
	struct date d = { .micro = 0 };
	int weekday;

	if (!read_name(&t, "SunMonTueWedThuFriSat", &weekday) || !skip_text(&t, ", ")
	    || !read_number(&t, 2, &d.day) || !read_byte(&t, ' ')
	    || !read_name(&t, "JanFebMarAprMayJunJulAugSepOctNovDec", &d.month) || !read_byte(&t, ' ')
	    || !read_number(&t, 4, &d.year) || !read_byte(&t, ' ') || !read_clock(&t, true, &d)
	    || !skip_text(&t, " GMT"))
		return false;
	return finish(&t, &d, 0, us);
}

size_t
time_format(int64_t us, char *buf, size_t size)
{
	const struct date d = date_from_us(us);

	MUST(size >= TIME_TEXT_MAX);
	const size_t n = print_seconds(&d, buf);
	memcpy(buf + n, "Z", 2);
	return n + 1;
}

size_t
time_format_micro(int64_t us, char *buf, size_t size)
{
	const struct date d = date_from_us(us);

	MUST(size >= TIME_TEXT_MAX);
	size_t n = print_seconds(&d, buf);
	buf[n++] = '.';
	n += print_number(buf + n, d.micro, 6);
	memcpy(buf + n, "Z", 2);
	return n + 1;
}

/* micro: exactly six decimals. */
static bool
parse(const char *text, size_t len, bool micro, int64_t *us)
{
	struct time_text t = { text, text + len };
	struct date d = { .micro = 0 };
	int64_t offset;

	if (!read_date(&t, &d) || !read_byte(&t, 'T') || !read_clock(&t, false, &d))
		return false;
	const char *const point = t.at;
	if (t.end - t.at >= 2 && (*t.at == '.' || *t.at == ',') && is_digit(&t, 1)) {
		int unit = US_PER_SECOND / 10;

		for (t.at++; is_digit(&t, 0); t.at++, unit /= 10)
			d.micro += (*t.at - '0') * unit;
	}
	return (!micro || t.at - point == 7) && read_zone(&t, &offset) && finish(&t, &d, offset, us);
}

static bool
read_date(struct time_text *t, struct date *d)
{
	return read_number(t, 4, &d->year) && read_byte(t, '-') && read_number(t, 2, &d->month)
	    && read_byte(t, '-') && read_number(t, 2, &d->day);
}

/* Go takes an hour of one digit where the layout has 15. */
static bool
read_clock(struct time_text *t, bool strict, struct date *d)
{
	const int digits = strict || is_digit(t, 1) ? 2 : 1;

	return read_number(t, digits, &d->hour) && read_byte(t, ':') && read_number(t, 2, &d->minute)
	    && read_byte(t, ':') && read_number(t, 2, &d->second);
}

/* Z or +hh:mm. Up to 24:60, as Go: some people write such offsets. */
static bool
read_zone(struct time_text *t, int64_t *offset)
{
	int hours, minutes;

	*offset = 0;
	if (read_byte(t, 'Z'))
		return true;
	const bool west = read_byte(t, '-');
	if (!west && !read_byte(t, '+'))
		return false;
	if (!read_number(t, 2, &hours) || !read_byte(t, ':') || !read_number(t, 2, &minutes))
		return false;
	*offset = (west ? -60 : 60) * (hours * 60 + minutes);
	return hours <= 24 && minutes <= 60;
}

static bool
read_number(struct time_text *t, int digits, int *out)
{
	*out = 0;
	for (; digits > 0; digits--, t->at++) {
		if (!is_digit(t, 0))
			return false;
		*out = *out * 10 + (*t->at - '0');
	}
	return true;
}

static bool
read_byte(struct time_text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* One of some names of three letters; which one, from 1. */
static bool
read_name(struct time_text *t, const char *names, int *out)
{
	if (t->end - t->at < 3)
		return false;
	for (*out = 1; *names != '\0'; names += 3, ++*out) {
		if (memcmp(t->at, names, 3) == 0) {
			t->at += 3;
			return true;
		}
	}
	return false;
}

static bool
skip_text(struct time_text *t, const char *want)
{
	while (*want != '\0' && read_byte(t, *want))
		want++;
	return *want == '\0';
}

static bool
is_digit(const struct time_text *t, size_t i)
{
	return (size_t)(t->end - t->at) > i && ascii_digit(t->at[i]);
}

static bool
finish(const struct time_text *t, const struct date *d, int64_t offset, int64_t *us)
{
	if (t->at != t->end || !in_calendar(d))
		return false;
	const int64_t seconds = days_from_date(d) * SECONDS_PER_DAY
	    + d->hour * 3600 + d->minute * 60 + d->second - offset;
	*us = seconds * US_PER_SECOND + d->micro;
	return true;
}

static bool
in_calendar(const struct date *d)
{
	return d->month >= 1 && d->month <= 12 && d->day >= 1 && d->day <= days_in(d->year, d->month)
	    && d->hour < 24 && d->minute < 60 && d->second < 60;
}

static int
days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static int64_t
days_from_date(const struct date *d)
{
	const int64_t year = d->year - (d->month <= 2);
	const int64_t era = (year >= 0 ? year : year - 399) / 400;
	const int64_t of_era = year - era * 400;
	const int from_march = (d->month + 9) % 12;
	const int64_t of_year = (153 * from_march + 2) / 5 + d->day - 1;

	return era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

static struct date
date_from_us(int64_t us)
{
	const int64_t day_us = (int64_t)SECONDS_PER_DAY * US_PER_SECOND;
	int64_t days = us / day_us, rest = us % day_us;

	if (rest < 0) {
		rest += day_us;
		days--;
	}
	days += DAYS_TO_1970;
	const int64_t era = (days >= 0 ? days : days - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
	const int64_t of_era = days - era * DAYS_PER_ERA;
	const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	const int of_year = (int)(of_era - (365 * year + year / 4 - year / 100));
	const int from_march = (5 * of_year + 2) / 153;
	const int month = from_march < 10 ? from_march + 3 : from_march - 9;
	const int64_t seconds = rest / US_PER_SECOND;

	return (struct date){
		.year = (int)(year + era * 400) + (month <= 2), .month = month,
		.day = of_year - (153 * from_march + 2) / 5 + 1,
		.hour = (int)(seconds / 3600), .minute = (int)(seconds / 60 % 60),
		.second = (int)(seconds % 60), .micro = (int)(rest % US_PER_SECOND),
	};
}

static size_t
print_seconds(const struct date *d, char *buf)
{
	size_t n = print_number(buf, d->year, 4);
	const struct {
		char	before;
		int	number;
	} rest[] = {
		{ '-', d->month }, { '-', d->day }, { 'T', d->hour }, { ':', d->minute }, { ':', d->second },
	};

	for (size_t i = 0; i < NITEMS(rest); i++) {
		buf[n++] = rest[i].before;
		n += print_number(buf + n, rest[i].number, 2);
	}
	return n;
}

/* At least that many digits; a sign where it is needed. */
static size_t
print_number(char *buf, int64_t number, int digits)
{
	char reversed[24];
	size_t n = 0, used = 0;

	if (number < 0) {
		buf[used++] = '-';
		number = -number;
	}
	for (; number > 0 || n < (size_t)digits; number /= 10)
		reversed[n++] = (char)('0' + number % 10);
	while (n > 0)
		buf[used++] = reversed[--n];
	return used;
}
