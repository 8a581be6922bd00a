import { describe } from 'vitest'
import { databaseFiles, open } from '../../test/kit/store-records.js'
import { testStore } from '../../test/kit/store/store-contract.js'
import { VirtualClock } from '../../base/runtime/index.js'

const { file } = databaseFiles()

describe('a store in memory', () => testStore((clock = new VirtualClock()) => open(undefined, clock)))
describe('a store in a file', () => testStore((clock = new VirtualClock()) => open(file(), clock)))
