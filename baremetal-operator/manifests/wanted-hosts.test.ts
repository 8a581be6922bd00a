import { expect, test } from 'vitest'
import { wantedHosts } from './wanted-hosts.js'

const hostWith = (credentialsName: string) => `apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: h}
spec: {online: true, bmc: {address: ipmi://10.0.0.5, credentialsName: ${credentialsName}}}
`

const secretNamed = (name: string, namespace = 'metal3') => `---
apiVersion: v1
kind: Secret
metadata: {name: ${name}, namespace: ${namespace}}
`

const notesOf = (...documents: string[]) => wantedHosts([{ name: 'h.yaml', text: documents.join('') }]).hosts[0]!.notes

test.each<[string, string[], string]>([
  ['is near to one that the files have', [secretNamed('rack1-bmc')], '; did you mean rack1-bmc?'],
  ['is near to none', [secretNamed('pull')], ''],
  ['is near to one of another namespace', [secretNamed('rack1-bmc', 'other')], ''],
  ['is that of another host of a row', [secretNamed('rack2-bcm')], ''],
  ['stands among no Secrets', [], ''],
])('a Secret that is missing: its name %s', (_, secrets, end) => {
  expect(notesOf(hostWith('rack1-bcm'), ...secrets)).toEqual([
    `the Secret rack1-bcm is in none of the files: BareMetal Operator waits until it exists${end}`,
  ])
})
