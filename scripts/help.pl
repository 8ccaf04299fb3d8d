# SPDX-License-Identifier: GPL-2.0
#
# What a script says of itself, for those whose help is the comment at their head.
use strict;
use warnings;

# answer_help OPTIONS ARG...: if the first ARG is --help or -h, prints that comment and
# ends; an option that OPTIONS, a pattern, does not match ends with one line.
sub answer_help {
	my ($options, $first) = @_;

	return unless defined $first && $first =~ /^-/;
	if ($first =~ /^(?:-h|--help)$/) {
		open my $in, '<', $0 or die "$0: $!\n";
		while (<$in>) {
			next if $. <= 3;
			last unless s/^# ?//;
			print;
		}
		exit 0;
	}
	return if $first =~ /^(?:$options)$/;
	print STDERR $0 =~ s{.*/}{}r, ": there is no option $first; --help says what there is\n";
	exit 2;
}

1;
