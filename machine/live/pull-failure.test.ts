import { expect, test } from 'vitest'
import { pullFailure } from './pull-failure.js'

test.each([
  [
    'quay.io/metal3-io/ironic-agent:v1',
    'not-found',
    'initializing source docker://quay.io/metal3-io/ironic-agent:v1: reading manifest v1 in quay.io/metal3-io/ironic-agent: manifest unknown',
  ],
  [
    'registry.example:5000/a/b@sha256:0123',
    'unauthorized',
    'initializing source docker://registry.example:5000/a/b@sha256:0123: reading manifest sha256:0123 in registry.example:5000/a/b: unauthorized: access to the requested resource is not authorized',
  ],
  [
    'localhost/agent:latest',
    'timeout',
    'initializing source docker://localhost/agent:latest: pinging container registry localhost: Get "https://localhost/v2/": dial tcp: i/o timeout',
  ],
  [
    'agent:latest',
    'not-found',
    'initializing source docker://agent:latest: reading manifest latest in docker.io/library/agent: manifest unknown',
  ],
  [
    'a.example/b:c',
    'toomanyrequests: slow down',
    'initializing source docker://a.example/b:c: toomanyrequests: slow down',
  ],
])('podman reports a failed pull of %s: %s', (image, why, sentence) => expect(pullFailure(image, why)).toBe(sentence))
