#!/bin/sh
# A tuning worker without a GPU, for tests of the tuner's side. What a candidate does is its id:
#   2 hangs, 3 dies, 5 is wrong, 6 dies while it is measured, 7 hangs then;
#   30 answers garbage, 31 is killed and 32 stopped the first time, 33 is killed the first time that it is measured;
#   34 says without end that it starts, 35 writes a line without end, 36 slowly;
#   37 is another's answer, 38 no verdict for want of memory, 39 a text that may not be shown;
#   40 takes less than no time, 41 has too few times, 42 takes times without number.
# The first argument chooses how the worker itself behaves, none: every candidate is good; ends: it
# ends when it is to measure for the second time. The second is a file that it logs to.
mode=$1
log=$2
[ -n "$2" ] && echo "start" >> "$2"
# True the first time that the log has a line of this kind.
first() { [ "$(grep -c "^$1" "$log")" = 1 ]; }
while read -r line; do
  case "$line" in
    *'"cmd":"open"'*)
      case "$mode" in
        no-device) echo '{"reply":"failed","id":-1,"error":"no usable GPU"}' ;;
        silent) sleep 100 ;;
        dies) exit 3 ;;
        *) echo '{"reply":"ok","id":-1,"method":"cupti"}' ;;
      esac ;;
    *'"cmd":"admit"'*)
      id=$(printf '%s\n' "$line" | sed 's/.*"cmd":"admit","id":\(-*[0-9]*\).*/\1/')
      [ -n "$2" ] && echo "admit $id $(printf '%s\n' "$line" | grep -c '"check":true')" >> "$2"
      echo "{\"event\":\"start\",\"id\":$id}"
      case "$id:$mode" in
        *:|*:ends) echo "{\"reply\":\"ok\",\"id\":$id}" ;;
        2:*) sleep 100 ;;
        3:*) kill -9 $$ ;;
        30:*) echo 'Segmentation fault, but politely' ;;
        5:*) echo '{"reply":"wrong","id":5,"error":"7 of 8 elements differ"}' ;;
        31:*) first 'admit 31' && kill -9 $$; echo '{"reply":"ok","id":31}' ;;
        32:*) first 'admit 32' && kill -STOP $$; echo '{"reply":"ok","id":32}' ;;
        34:*) yes '{"event":"start","id":34}' ;;
        35:*) yes x | tr -d '\n' ;;
        36:*) while :; do printf x; sleep 0.05; done ;;
        37:*) echo '{"reply":"ok","id":1037}' ;;
        38:*) echo '{"reply":"pruned","id":38,"error":"cuMemAlloc: out of memory"}' ;;
        39:*) echo "{\"reply\":\"wrong\",\"id\":39,\"error\":\"a\u0000$(printf '%03000d' 7)\"}" ;;
        -2:*) [ "$mode" = bad-judge ] && echo '{"reply":"failed","id":-2,"error":"judge is ill"}' ||
              echo '{"reply":"ok","id":-2}' ;;
        *) echo "{\"reply\":\"ok\",\"id\":$id}" ;;
      esac ;;
    *'"cmd":"measure"'*)
      ids=$(printf '%s\n' "$line" | sed 's/.*"ids":\[\([0-9,]*\)\].*/\1/')
      repeats=$(printf '%s\n' "$line" | sed 's/.*"repeats":\([0-9]*\).*/\1/')
      [ -n "$2" ] && echo "measure $ids" >> "$2"
      case "$mode,$ids," in
        ends,*) [ "$(grep -c ^measure "$log")" -ge 2 ] && exit 9 ;;
        [a-z]*,6,*) echo '{"event":"start","id":6}'; exit 1 ;;
        [a-z]*,7,*) echo '{"event":"start","id":7}'; sleep 100 ;;
        [a-z]*,33,*) echo '{"event":"start","id":33}'; first "measure $ids" && kill -9 $$ ;;
        [a-z]*,42,*) yes '{"event":"start","id":42}' ;;
      esac
      echo "{\"reply\":\"ok\",\"id\":-1,\"method\":\"cupti\",\"samples_us\":[$(echo "$ids" |
        awk -F, -v n="$repeats" -v mode="$mode" '{
          for (i = 1; i <= NF; ++i) {
            us = (mode != "" && $i == 40 ? "-" : "") $i ".5"
            count = mode != "" && $i == 41 ? n - 1 : n
            for (j = 1; j <= count; ++j) row = row (j == 1 ? "" : ",") us
            printf "%s[%s]", i == 1 ? "" : ",", row
            row = ""
          }
        }')]}" ;;
  esac
done
