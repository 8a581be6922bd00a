import fc from 'fast-check'
import { expect, test } from 'vitest'
import { howMany } from '../../test/kit/how-many.js'
import { databaseFiles, open } from '../../test/kit/store-records.js'
import { doOperations, operationGroups, storeContents } from '../../test/kit/store/store-operations.js'

const { file } = databaseFiles()

test('a store in a file answers random work as one in memory does, and has the same when it is opened again', async () => {
  const check = fc.asyncProperty(operationGroups, async (groups) => {
    const path = file()
    await using inMemory = open()
    {
      await using inFile = open(path)
      for (const group of groups) expect(await doOperations(inFile, group)).toEqual(await doOperations(inMemory, group))
      expect(await storeContents(inFile)).toEqual(await storeContents(inMemory))
    }
    await using again = open(path)
    expect(await storeContents(again)).toEqual(await storeContents(inMemory))
  })
  await fc.assert(check, { numRuns: howMany(40, 1000) })
})
