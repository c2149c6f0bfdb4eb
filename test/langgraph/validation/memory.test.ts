import { memoryUnderTest } from "../../backends/locations.ts";
import { validateOn } from "./suite.ts";

validateOn(memoryUnderTest);
