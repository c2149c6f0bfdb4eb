import { sqliteUnderTest } from "../../backends/locations.ts";
import { validateOn } from "./suite.ts";

validateOn(sqliteUnderTest);
