import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { HostWithDisks, installations } from '../real/host-with-disks.js'

const ATTACHED = `fresh_disk
loop=$(losetup --find --show --partscan "$FOLDER/target.img")
target="--target=ssh://root@127.0.0.1 --host-key=$pin --ssh-config=none --device=$loop --yes-erase=$FOLDER/target.img"`
const DETACHED = 'losetup --detach $loop'

test('a host with a data md array and a mounted LV keeps every byte of them over installations through SSH that succeed, fail and are killed', async () => {
  await using host = await HostWithDisks.open()
  const out = await host.keepsOtherDisks(`make_ssh
${installations(ATTACHED, DETACHED)}
${ATTACHED}
for path in $one:one $three:three; do
  target="--target=ssh://root@127.0.0.1 --host-key=$pin --ssh-config=none --device=\${path%%:*} --yes-erase=$FOLDER/\${path#*:}.img"
  install good; echo "refused $path $code"
done
${DETACHED}; compared refused`)
  expect(out.match(/^refused .* 1$/gm)).toHaveLength(2)
  expect(out).toMatch(/is not touched: md\d+ is mounted on \/run\/data$/m)
  expect(out).toMatch(/is not touched: dm-\d+ is mounted on \/run\/volume$/m)
  expect(await readFile(host.path('refused'), 'utf8')).toContain('precious')
}, 2_400_000)
