#!/bin/sh
# plot.sh OUT NAME: draws the tables of run.sh in OUT as OUT/NAME-agents.svg and OUT/NAME-evaluations.svg
# (Debian: gnuplot-nox).
set -e
out=$1 name=${2:-scale}
head='set terminal svg size 900,700 font "sans,13"; set key left; set grid; set logscale xy; set format "%.0s%c"'

if [ -s "$out/agents.tsv" ]; then
    gnuplot <<END
$head
set output '$out/$name-agents.svg'
set multiplot layout 2,2
set xlabel 'agents'
t = '$out/agents.tsv'
set title 'results a second'
plot t using 1:2 with linespoints title 'hub', t using 1:7 with linespoints title 'hub and store', \
     t using 1:12 with linespoints title 'search'
set title 'processor time of the coordinator a result, us'
plot t using 1:3 with linespoints title 'hub', t using 1:8 with linespoints title 'hub and store', \
     t using 1:(\$13 * 1000) with linespoints title 'search'
set title 'wait for the next job, median, ms'
plot t using 1:5 with linespoints title 'hub', t using 1:10 with linespoints title 'hub and store', \
     t using 1:15 with linespoints title 'search'
set title 'memory of the coordinator, MiB'
plot t using 1:4 with linespoints title 'hub', t using 1:9 with linespoints title 'hub and store', \
     t using 1:14 with linespoints title 'search'
unset multiplot
END
fi

if [ -s "$out/evaluations.tsv" ]; then
    gnuplot <<END
$head
set output '$out/$name-evaluations.svg'
set multiplot layout 2,2
set xlabel 'evaluations'
t = '$out/evaluations.tsv'
set title 'evaluations a second'
plot t using 1:2 with linespoints notitle
set title 'processor time of an evaluation, ms'
plot t using 1:3 with linespoints notitle
set title 'memory, MiB'
plot t using 1:4 with linespoints title 'search', t using 1:7 with linespoints title 'after a resumption'
set title 'time of a resumption, s'
plot t using 1:6 with linespoints notitle
unset multiplot
END
fi
