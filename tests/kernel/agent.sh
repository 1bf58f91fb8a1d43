# SPDX-License-Identifier: Apache-2.0
# Runs the commands that arrive on the guest's second serial line, one at a time, and sends back what they print.
# A request is "SECONDS BASE64-OF-COMMAND"; the answer is "DONE STATUS BYTES" and then that many bytes of output.
exec 3<>/dev/ttyS1
export HOME=/run TMPDIR=/run PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /run || exit 1
echo "READY $(uname -r)" >&3
while IFS=' ' read -r seconds command <&3; do
  [ "$seconds" = QUIT ] && break
  base64 -d <<<"$command" >/run/command
  timeout -k 5 "$seconds" bash /run/command >/run/output 2>&1 </dev/null 3>&-
  status=$?
  echo "DONE $status $(stat -c %s /run/output)" >&3
  cat /run/output >&3
done
