#!/bin/bash
# Builds images/coreos-metal.raw.xz: a metal image in CoreOS's x86_64 layout that coreos-installer, the real one and
# ours, installs. It boots nothing: kernel and initramfs are placeholders, and it says everywhere that it is a rehearsal.
#
#   scripts/make-image.sh [OUT.raw.xz]
#
# With SMALL=1 the same files and partitions on a third of the bytes, for tests that move all of them:
#
#   SMALL=1 scripts/make-image.sh test/fixtures/images/small-metal.raw.xz
#
# Plain files only: no root, no mounts, no loop devices. Needs sgdisk (gdisk), mke2fs (e2fsprogs), mkfs.vfat
# (dosfstools), mcopy (mtools), xz.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C TZ=UTC
# 2026-01-01: fixed, so that two runs differ in nothing but what mke2fs takes from the wall clock.
epoch=1767225600
export SOURCE_DATE_EPOCH=$epoch E2FSPROGS_FAKE_TIME=$epoch
out=$(realpath -m "${1:-$(dirname "$0")/../images/coreos-metal.raw.xz}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=1.20260101.0
deployment=5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e
# The UUIDs that every CoreOS image is built with.
boot_uuid=96d15588-3596-4b3c-adca-a2ff7279ea63
root_uuid=910678ff-f77e-4a7d-8d53-86f2ac47a823
# In MiB. CoreOS: 1, 127, 384 and the rest.
bios=1 efi=4 boot=24 root=17
if [ -n "${SMALL:-}" ]; then efi=1 boot=9 root=1; fi
efi_start=$((1 + bios)) boot_start=$((1 + bios + efi)) root_start=$((1 + bios + efi + boot))
total=$((root_start + root + 1))

# --- boot: what coreos-installer edits, where CoreOS has it ------------------------------------
b=$work/boot
kernel=ostree/fedora-coreos-$deployment
mkdir -p "$b"/{coreos,efi,grub2,loader.1/entries,lost+found} "$b/$kernel"
ln -s loader.1 "$b/loader"
ln -s . "$b/boot"
: >"$b/ignition.firstboot"
cat >"$b/loader.1/entries/ostree-1-fedora-coreos.conf" <<EOF
title ironstage rehearsal CoreOS $version (ostree:0)
version 1
options rw mitigations=auto,nosmt ostree=/ostree/boot.1/fedora-coreos/$deployment/0 ignition.platform.id=metal \$ignition_firstboot root=UUID=$root_uuid rootflags=prjquota boot=UUID=$boot_uuid
linux /boot/$kernel/vmlinuz-6.0.0-rehearsal.x86_64
initrd /boot/$kernel/initramfs-6.0.0-rehearsal.x86_64.img
EOF
cat >"$b/grub2/grub.cfg" <<'EOF'
# ironstage rehearsal image: laid out as CoreOS's grub.cfg, never booted
set pager=1
search --label boot --set boot --no-floppy
set root=$boot
if [ -f $prefix/console.cfg ]; then
  source $prefix/console.cfg
fi
if [ -f "/ignition.firstboot" ]; then
  set ignition_network_kcmdline=''
  source "/ignition.firstboot"
  set ignition_firstboot="ignition.firstboot ${ignition_network_kcmdline}"
fi
blscfg
EOF
cat >"$b/grub2/console.cfg" <<'EOF'
# Console settings other than the default come between these lines.
# CONSOLE-SETTINGS-START
# CONSOLE-SETTINGS-END
EOF
cat >"$b/coreos/platforms.json" <<'EOF'
{
  "aws": {
    "grub_commands": ["serial --speed=115200", "terminal_input serial console", "terminal_output serial console"],
    "kernel_arguments": ["console=tty0", "console=ttyS0,115200n8"]
  },
  "metal": {},
  "qemu": {
    "grub_commands": ["serial --speed=115200", "terminal_input serial console", "terminal_output serial console"],
    "kernel_arguments": ["console=tty0", "console=ttyS0,115200n8"]
  },
  "vmware": {
    "kernel_arguments": ["console=ttyS0,115200n8", "console=tty0"]
  }
}
EOF
placeholder() { # NAME BYTES: a text repeated, so that it compresses to nothing
  yes "ironstage rehearsal image: this is no $1" | head -c "$2" || true
}
placeholder kernel 65536 >"$b/$kernel/vmlinuz-6.0.0-rehearsal.x86_64"
placeholder initramfs 65536 >"$b/$kernel/initramfs-6.0.0-rehearsal.x86_64.img"

# --- root: ext4 here, xfs in CoreOS --------------------------------------------------------------
r=$work/root
mkdir -p "$r"/{boot,ostree/deploy/fedora-coreos/var}
cat >"$r/.coreos-aleph-version.json" <<EOF
{
  "build": "$version",
  "imgid": "ironstage-rehearsal-coreos-$version-metal.x86_64.raw",
  "ref": "ironstage/rehearsal",
  "ostree-commit": "$deployment"
}
EOF
echo 'A rehearsal image of ironstage: the layout of CoreOS without the operating system.' >"$r/README"
find "$b" "$r" -exec touch -h -d @$epoch {} +

# --- the disk ------------------------------------------------------------------------------------
raw=$work/disk.raw
truncate -s ${total}M "$raw"
linux=0fc63daf-8483-4772-8e79-3d69d8477de4
sgdisk -a 2048 -U 00000000-0000-4000-a000-000000000001 \
  -n 1:2048:+${bios}M -t 1:21686148-6449-6e6f-744e-656564454649 -c 1:BIOS-BOOT -u 1:1205741f-ca1a-4e5a-9b05-000000000001 \
  -n 2:$((efi_start * 2048)):+${efi}M -t 2:c12a7328-f81f-11d2-ba4b-00a0c93ec93b -c 2:EFI-SYSTEM -u 2:1205741f-ca1a-4e5a-9b05-000000000002 \
  -n 3:$((boot_start * 2048)):+${boot}M -t 3:$linux -c 3:boot -u 3:1205741f-ca1a-4e5a-9b05-000000000003 \
  -n 4:$((root_start * 2048)):+${root}M -t 4:$linux -c 4:root -u 4:1205741f-ca1a-4e5a-9b05-000000000004 \
  "$raw" >/dev/null
place() { dd if="$1" of="$raw" bs=1M seek="$2" conv=notrunc,sparse status=none; }

truncate -s ${efi}M "$work/efi.img"
mkfs.vfat --invariant -n EFI-SYSTEM -i 7B7795E7 "$work/efi.img" >/dev/null
mkdir -p "$work/efi/EFI/fedora" "$work/efi/EFI/BOOT"
placeholder 'boot loader' 512 >"$work/efi/EFI/BOOT/BOOTX64.EFI"
placeholder 'boot loader' 512 >"$work/efi/EFI/fedora/shimx64.efi"
find "$work/efi" -exec touch -d @$epoch {} +
mcopy -s -m -i "$work/efi.img" "$work/efi/EFI" ::
place "$work/efi.img" $efi_start

ext4() { # TREE IMAGE MIB LABEL UUID
  truncate -s "$3M" "$2"
  # A journal has 4 MiB at least.
  local journal=(-J size=4)
  if [ "$3" -lt 5 ]; then journal=(-O ^has_journal); fi
  mke2fs -q -t ext4 -b 4096 -O 64bit,metadata_csum,^metadata_csum_seed,^orphan_file -m 0 "${journal[@]}" \
    -E "lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0,hash_seed=$5" -L "$4" -U "$5" -d "$1" "$2"
  # Files belong to whoever ran this: give all of them to root.
  (cd "$1" && find . -mindepth 1 -printf 'set_inode_field "/%P" uid 0\nset_inode_field "/%P" gid 0\n') | debugfs -w -f - "$2" >/dev/null 2>&1
  e2fsck -fn "$2" >/dev/null 2>&1
}
ext4 "$b" "$work/boot.img" $boot boot $boot_uuid
place "$work/boot.img" $boot_start
ext4 "$r" "$work/root.img" $root root $root_uuid
place "$work/root.img" $root_start

sgdisk -v "$raw" | grep -q 'No problems found'
mkdir -p "$(dirname "$out")"
# Each decoder of this image takes as much memory as its dictionary: 64 MiB with preset 9 as such.
xz --lzma2=preset=9,dict=1MiB -T1 --check=crc32 -c "$raw" >"$out"
ls -l "$out"
