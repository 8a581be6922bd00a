import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    ignition: typeof ERRORS
  }
}

/** The codes of `ignition/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'ignition-butane': {
    sentence: 'the file is a Butane config',
    remedy: 'make an Ignition config of it with butane --strict',
  },
  'ignition-cloud-config': {
    sentence: 'the file is user data for cloud-init, which CoreOS does not have',
    remedy: 'write an Ignition config',
  },
  'ignition-cycle': {
    sentence: 'an Ignition config refers to itself',
    remedy: 'take the reference out',
  },
  'ignition-empty': {
    sentence: 'the Ignition config is empty',
    remedy: 'give a config, or leave the option out',
  },
  'ignition-invalid': {
    sentence: 'the Ignition config is not valid',
    remedy: 'look with ironstage ignition validate',
  },
  'ignition-loss': {
    sentence: 'the target version of the Ignition spec has no place for a part of the config',
    remedy: 'keep the config at its version, or take those parts out',
  },
  'ignition-not-a-config': {
    sentence: 'the file is a source that Ignition configs are made from',
    remedy: 'run it through butane',
  },
  'ignition-not-json': {
    sentence: 'the Ignition config is not JSON in UTF-8',
    remedy: 'correct the syntax',
  },
  'ignition-old-version': {
    sentence: 'the Ignition config is of spec 1 or 2, and CoreOS reads only spec 3',
    remedy: 'translate the config to spec 3',
  },
  'ignition-resource': {
    sentence: 'a resource of the Ignition config cannot be read',
    remedy: 'look with ironstage ignition validate',
  },
  'ignition-unknown-version': {
    sentence: 'the Ignition config names a version of the spec that Ignition does not read',
    remedy: 'use a version that Ignition reads',
  },
})
