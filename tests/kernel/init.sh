#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# First process of a test guest: mounts the host's / read-only over 9p at /r and starts the agent in it.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /m/*.ko; do
  insmod "$module" || echo "insmod $module failed"
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro host /r || poweroff -f
mount -t proc proc /r/proc
mount -t sysfs sys /r/sys
mount -t devtmpfs dev /r/dev
# The host's programs want a /run that they can write to.
mount -t tmpfs run /r/run
mkdir -p /r/dev/shm
mount -t tmpfs shm /r/dev/shm
mount -t debugfs debugfs /r/sys/kernel/debug
mount -t tracefs tracefs /r/sys/kernel/tracing
stty -F /dev/ttyS1 raw -echo
cp /agent.sh /r/run/agent.sh
chroot /r /bin/bash /run/agent.sh
poweroff -f
