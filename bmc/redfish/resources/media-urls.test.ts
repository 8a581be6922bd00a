import { expect, test } from 'vitest'
import { served } from '../../../test/kit/redfish/served.js'

const MEDIA = '/redfish/v1/Managers/machine-1/VirtualMedia/Cd'
const UPDATE = '/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate'

/** URLs that a BMC, which is another computer, could not fetch. */
const UNREACHABLE = [
  'file:///etc/passwd',
  'FILE:///etc/passwd',
  'file://localhost/etc/passwd',
  'data://text/plain,x',
  'javascript://x/y',
  'unix:///run/docker.sock',
  'ssh://host/x',
]

test.each(UNREACHABLE)('%s is refused, and nothing is inserted', async (Image) => {
  await using bmc = await served()

  expect((await bmc.call('POST', `${MEDIA}/Actions/VirtualMedia.InsertMedia`, { Image })).status).toBe(400)
  expect((await bmc.call('PATCH', MEDIA, { Image, Inserted: true })).status).toBe(400)
  expect((await bmc.call('POST', UPDATE, { ImageURI: Image })).status).toBe(400)
  expect((await bmc.call('GET', MEDIA)).document).toMatchObject({ Image: null, Inserted: false })
})

test.each(['http', 'HTTPS', 'nfs', 'cifs', 'tftp'])('an image of %s is inserted', async (scheme) => {
  await using bmc = await served()
  const Image = `${scheme}://images.test/live.iso`

  await bmc.call('POST', `${MEDIA}/Actions/VirtualMedia.InsertMedia`, { Image })

  expect((await bmc.call('GET', MEDIA)).document).toMatchObject({ Image, Inserted: true })
})
