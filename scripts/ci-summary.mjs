// Ends a CI run: lists skipped and failed tests, then counts tests; every other failed step counts as a failure.
import { readFileSync } from "node:fs";

const [file, ...failedSteps] = process.argv.slice(2);
let results = { numPassedTests: 0, numFailedTests: 0, testResults: [] };
try {
  results = JSON.parse(readFileSync(file, "utf8"));
} catch (error) {
  console.error(`the test run left no results: ${error}`);
  failedSteps.push("test results");
}

const skipped = results.testResults
  .flatMap((file) => file.assertionResults)
  .filter((test) => test.status !== "passed" && test.status !== "failed");
for (const test of skipped) console.log(`not run: ${test.fullName}`);
for (const step of failedSteps) console.log(`failed: ${step}`);
// Failures come last: the end of a long log is what people read, and what is kept of it.
for (const { name, message, assertionResults } of results.testResults) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  for (const test of failed) console.log(`failed: ${name}: ${test.fullName}\n${test.failureMessages.join("\n")}`);
  if (failed.length === 0 && message) console.log(`failed: ${name}\n${message}`);
}

// A failed test step is already counted by its failed tests, unless there are none.
const others = failedSteps.filter((step) => step !== "test" || results.numFailedTests === 0);
const failures = results.numFailedTests + others.length;
console.log(
  `${results.numPassedTests} passed, ${failures} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
);
process.exit(failures === 0 && results.numPassedTests > 0 ? 0 : 1);
