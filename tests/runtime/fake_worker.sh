#!/bin/sh
# A tuning worker without a GPU, for tests of the tuner's side. What a candidate does is its id:
#   2 hangs, 3 dies, 4 answers garbage, 5 is wrong, 6 dies while it is measured, 7 hangs then.
# The first argument chooses how the worker itself behaves, none: every candidate is good. The second
# is a file that it logs to.
mode=$1
[ -n "$2" ] && echo "start" >> "$2"
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
        *:) echo "{\"reply\":\"ok\",\"id\":$id}" ;;
        2:*) sleep 100 ;;
        3:*) kill -9 $$ ;;
        4:*) echo 'Segmentation fault, but politely' ;;
        5:*) echo '{"reply":"wrong","id":5,"error":"7 of 8 elements differ"}' ;;
        -2:*) [ "$mode" = bad-judge ] && echo '{"reply":"failed","id":-2,"error":"judge is ill"}' ||
              echo '{"reply":"ok","id":-2}' ;;
        *) echo "{\"reply\":\"ok\",\"id\":$id}" ;;
      esac ;;
    *'"cmd":"measure"'*)
      ids=$(printf '%s\n' "$line" | sed 's/.*"ids":\[\([0-9,]*\)\].*/\1/')
      [ -n "$2" ] && echo "measure $ids" >> "$2"
      case "$mode,$ids," in
        [a-z]*,6,*) echo '{"event":"start","id":6}'; exit 1 ;;
        [a-z]*,7,*) echo '{"event":"start","id":7}'; sleep 100 ;;
        *) echo "{\"reply\":\"ok\",\"id\":-1,\"method\":\"cupti\",\"samples_us\":[$(echo "$ids" |
             sed 's/\([0-9][0-9]*\)/[\1.5,\1.5]/g')]}" ;;
      esac ;;
  esac
done
