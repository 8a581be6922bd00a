import { expect, test } from 'vitest'
import { GIB, stepMachine, testDisk } from '../../../test/kit/step-machine.js'

/** Two disks with a mirror over a partition of each. */
async function mirrored() {
  const lab = await stepMachine([testDisk('sda', 2), testDisk('sdb', 2)])
  for (const disk of ['/dev/sda', '/dev/sdb']) await lab.say(`sgdisk -n 1:0:+1G -t 1:fd00 ${disk}`)
  await lab.say('mdadm --create /dev/md7 --run --metadata=1.2 -l 1 -N data -n 2 /dev/sda1 /dev/sdb1')
  const fails = (line: string) => lab.say(line).then(String, (error: Error) => (error.cause as Error).message)
  return { ...lab, fails }
}

test('an array can be stopped, assembled again, and removed with its superblocks', async () => {
  await using lab = await mirrored()
  expect(await lab.fails('mdadm --zero-superblock /dev/sda1')).toMatch(/Couldn't open \/dev\/sda1 for write/)
  await lab.say('mdadm --stop /dev/md7')
  expect(await lab.fails('lsblk /dev/md7')).toBe('lsblk: /dev/md7: not a block device')
  await lab.say('mdadm --assemble --scan')
  expect(await lab.say('lsblk -dno NAME,TYPE /dev/md7')).toBe('md7 raid1\n')
  await lab.say('mdadm --stop --scan')
  await lab.say('mdadm --zero-superblock /dev/sda1 /dev/sdb1')
  expect(await lab.fails('mdadm --assemble --scan')).toMatch(/No arrays found/)
  expect(await lab.say('mdadm --examine --scan')).toBe('')
})

test('an array can have partitions, which are named after it', async () => {
  await using lab = await mirrored()
  await lab.say('sgdisk -n 0:0:+100M -c 0:inner /dev/md7')
  expect(await lab.say('lsblk -lno NAME,TYPE,PARTLABEL')).toMatch(/^md7p1 part +inner$/m)
  expect(await lab.say('udevadm info -q property -n /dev/md7')).toMatch(/MD_LEVEL=raid1\n[^]*MD_NAME=m1:data\n/)
  expect(await lab.say('lsblk -bdno SIZE /dev/md7')).toBe(`${GIB - 2 ** 20}\n`)
})

test('a member in use is refused, and a member of an earlier array is accepted only with --run', async () => {
  await using lab = await mirrored()
  expect(await lab.fails('mdadm --create /dev/md8 --run -l 1 -n 2 /dev/sda1 /dev/sdb1')).toMatch(/resource busy/)
  expect(await lab.fails('mdadm --create /dev/md7 --run -l 1 -n 2 /dev/sda1 /dev/sdb1')).toMatch(/already in use/)
  await lab.say('mdadm --stop /dev/md7')
  expect(await lab.fails('mdadm --create /dev/md8 -l 1 -n 2 /dev/sda1 /dev/sdb1')).toMatch(/Linux RAID member/)
  await lab.say('mdadm --create /dev/md8 --run -l 0 -n 2 /dev/sda1 /dev/sdb1')
  expect(await lab.say('mdadm --detail --scan')).toMatch(
    /^ARRAY \/dev\/md8 metadata=1.2 name=m1:8 UUID=[\da-f:]{35}\n$/,
  )
})

test('an existing array has the highest number after a reboot', async () => {
  await using lab = await mirrored()
  await lab.say('dd of=/dev/md7 bs=1M seek=5 status=none', Buffer.from('kept'))
  await lab.reboot()
  expect(await lab.say('dd if=/dev/md127 bs=1M skip=5 count=1 status=none')).toMatch(/^kept/)
  expect(await lab.say('cat /proc/mdstat')).toMatch(
    /^md127 : active raid1 sdb1\[1\] sda1\[0\]\n +1047552 blocks super 1.2 \[2\/2\] \[UU\]$/m,
  )
})
