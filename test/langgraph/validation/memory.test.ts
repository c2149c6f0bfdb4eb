import { memoryUnderTest } from "../../support/places.ts";
import { validateOn } from "./suite.ts";

validateOn(memoryUnderTest);
