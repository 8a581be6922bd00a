import { expect, test } from 'vitest'
import { HostWithDisks, installations } from '../host-with-disks.js'

// Installations through SSH, which take as long again, are in test/soak.

const DETACHED = 'losetup --associated $FOLDER/target.img --noheadings --output NAME | xargs -r losetup --detach'

test('a host with a data md array and a mounted LV keeps every byte of them over local installations that succeed, fail and are killed', async () => {
  await using host = await HostWithDisks.open()
  const out = await host.keepsOtherDisks(`target=--target=local:$FOLDER/target.img
${installations('fresh_disk', DETACHED)}
fresh_disk
for disk in $one $(readlink -f /dev/data/home); do
  target="--target=local:$disk --yes-erase=anything"; install good
  echo "refused $disk $code"
done
compared refused`)
  expect(out).toMatch(/raid1 .*\/run\/data$/m)
  expect(out).toMatch(/lvm .*\/run\/volume$/m)
  expect(out.match(/^refused .* [12]$/gm)).toHaveLength(2)
  expect(out).toMatch(/case refused code [12]; others equal/)
}, 2_400_000)
