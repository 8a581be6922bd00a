# Read by scripts on a kernel of its own: four disks of a host in FOLDER, loop devices over files. Two are a data array,
# one is a volume group whose volume is mounted, and one is there to be installed to.

make_disks() {
  rm -f "$FOLDER/half" "$FOLDER/go"
  for name in one two three; do
    rm -f "$FOLDER/$name.img"
    truncate -s 64M "$FOLDER/$name.img"
  done
  one=$(losetup --find --show "$FOLDER/one.img")
  two=$(losetup --find --show "$FOLDER/two.img")
  three=$(losetup --find --show "$FOLDER/three.img")
  mdadm --quiet --create /dev/md/data --run --level=1 --raid-devices=2 --assume-clean --metadata=1.0 "$one" "$two"
  udevadm settle
  mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/md/data
  mkdir -p /run/data /run/volume
  mount -o noatime /dev/md/data /run/data
  echo precious >/run/data/file
  vgcreate -qq data "$three"
  lvcreate -qq -n home -l 100%FREE data
  udevadm settle
  mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/data/home
  mount -o noatime /dev/data/home /run/volume
  echo precious >/run/volume/file
  grep -q 'raid1' /proc/mdstat
  # An array is marked as clean a moment after it was written.
  sync
  while grep -q active "/sys/block/$(basename "$(readlink -f /dev/md/data)")/md/array_state"; do sleep 0.1; done
  lsblk -o NAME,TYPE,FSTYPE,MOUNTPOINT
}

fresh_disk() {
  rm -f "$FOLDER/target.img"
  truncate -s 256M "$FOLDER/target.img"
}

# All bytes of the disks that nobody named.
others() {
  sync
  sha256sum "$FOLDER/one.img" "$FOLDER/two.img" "$FOLDER/three.img"
  cat /run/data/file /run/volume/file
}

make_ssh() {
  # A login of its own: what this host's root has its shell do is slow here.
  printf '%s\n' 'root:x:0:0::/run/home:/bin/sh' 'sshd:x:74:74::/run/sshd:/usr/sbin/nologin' >/run/passwd
  mount --bind /run/passwd /etc/passwd
  echo 'root:*:19000:0:99999:7:::' >/run/shadow
  mount --bind /run/shadow /etc/shadow
  mkdir -p -m 700 /run/home/.ssh
  ssh-keygen -q -t ed25519 -N '' -f /run/home/.ssh/id_ed25519
  ssh-keygen -q -t ed25519 -N '' -f /run/host_key
  LD_LIBRARY_PATH="$SSHD_TREE/usr/lib/x86_64-linux-gnu" "$SSHD_TREE/usr/sbin/sshd" -f /dev/null -h /run/host_key \
    -o ListenAddress=127.0.0.1 -o Port=22 -o AuthorizedKeysFile=/run/home/.ssh/id_ed25519.pub -o StrictModes=no \
    -o PidFile=/run/sshd.pid -o UsePAM=no
  pin=$(ssh-keygen -lf /run/host_key.pub | cut -d' ' -f2)
}
